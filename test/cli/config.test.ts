import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommandContext } from '../../server/cli/command.ts'
import { config } from '../../server/cli/config.ts'
import { createHomeportSchema } from '../../server/contract/homeport-yaml.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'homeport-config-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface RunOptions {
  is_json?: boolean
  force?: boolean
  files?: Record<string, string>
  url?: string
}

async function run(positionals: string[], { is_json = false, force = false, files = {}, url = '' }: RunOptions = {}) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) }
  const connect = () => {
    if (url === '') throw new Error('no instance')
    return { url }
  }
  const code = await config.run({ positionals, flags: { force }, terminal, is_json, cwd: folder, connect } as unknown as CommandContext)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const compose = 'services:\n  web:\n    build: .\n    ports: ["8080:3000"]\n  db:\n    image: postgres:16\n'

describe('config check', () => {
  test('prints what was read', async () => {
    const { code, out } = await run(['check'], { files: { 'compose.yaml': compose, Dockerfile: 'FROM scratch\nEXPOSE 3000' } })
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      'Services are read from compose.yaml',
      'web (web): built from the source, port 3000, answers on the project’s address',
      'db (image): image postgres:16',
      'Build of web:',
      '  Dockerfile found in the source: it is built without changes',
      '  It exposes port 3000',
      '',
      expect.stringMatching(/^SERVICE +FACT +VALUE +FROM$/),
      expect.stringMatching(/^web +Port +3000 +compose\.yaml line 4$/),
      expect.stringMatching(/^web +Health check +GET \/ +default$/),
      expect.stringMatching(/^db +Image +postgres:16 +compose\.yaml line 6$/),
      expect.stringMatching(/^web +Dockerfile +Dockerfile +Dockerfile$/),
      expect.stringMatching(/^web +Base image +scratch +Dockerfile line 1$/),
      expect.stringMatching(/^web +Port +3000 +Dockerfile line 2$/),
      '',
      'compose.yaml is valid.',
    ])
  })

  test('reports every line that cannot be used', async () => {
    const files = { 'homeport.yaml': 'services:\n  web:\n    prot: 80\n  Db: {}\n' }
    expect(await run(['check', '.'], { files })).toEqual({
      code: 1,
      out: '',
      err: [
        'homeport.yaml:3:5: services.web: “prot” is not a known key. Did you mean port?',
        'homeport.yaml:4:3: services.Db is not valid. A name has up to 40 lower-case letters, digits, hyphens and underscores.',
        'homeport.yaml has 2 problems.',
      ].join('\n'),
    })
    expect(JSON.parse((await run(['check'], { is_json: true })).out)).toMatchObject({
      file: 'homeport.yaml',
      is_valid: false,
      problems: [{ line: 3, column: 5 }, { line: 4 }],
      config: null,
    })
  })

  test('a source that is detected, and one that is not', async () => {
    expect((await run(['check'])).err).toMatch(/is empty/)
    const { code, out } = await run(['check'], { files: { 'index.html': 'hi' } })
    expect([code, out.split('\n')[0]]).toEqual([0, 'No configuration file: one web service, detected from the source.'])
    expect(JSON.parse((await run(['check'], { is_json: true })).out)).toMatchObject({ file: null, is_valid: true, config: { services: [] } })
  })
})

describe('config init', () => {
  test('writes what was read, and reads it back', async () => {
    const { code, out } = await run(['init'], { files: { 'compose.yaml': compose, 'index.html': 'hi' }, url: 'http://127.0.0.1:4999' })
    expect([code, out]).toEqual([0, 'Wrote homeport.yaml from compose.yaml: web, db.'])
    expect(readFileSync(join(folder, 'homeport.yaml'), 'utf8')).toBe(`# yaml-language-server: $schema=http://127.0.0.1:4999/schemas/homeport.json
# What this source runs. homeport help configuration explains each key, and homeport config check reads the file.
# Generated from compose.yaml, which is no longer read.

services:
  # Answers on the project’s address.
  # Static website found (index.html): served without a build
  web:
    build: .
    port: 3000

  db:
    image: postgres:16
`)
    expect(JSON.parse((await run(['check'], { is_json: true })).out)).toMatchObject({ file: 'homeport.yaml', config: { main: 'web' } })
  })

  test('writes what was detected', async () => {
    const files = { 'package.json': '{ "dependencies": { "express": "5" }, "scripts": { "start": "node a.js" } }' }
    expect(JSON.parse((await run(['init'], { files, is_json: true })).out)).toEqual({ file: 'homeport.yaml', from: null, services: ['web'] })
    expect(readFileSync(join(folder, 'homeport.yaml'), 'utf8')).toMatch(/\n {2}# Express found [^\n]*\n {2}web:\n {4}build: \.\n$/)
  })

  test('replaces a file only with --force', async () => {
    const files = { 'homeport.yaml': 'services: { web: { command: node a.js } }', 'package.json': '{ "scripts": { "start": "x" } }' }
    expect(await run(['init'], { files })).toMatchObject({ code: 1, err: expect.stringMatching(/already exists/) })
    expect(await run(['init'], { force: true })).toMatchObject({ code: 0 })
  })
})

test('config schema prints the schema', async () => {
  expect(JSON.parse((await run(['schema'])).out)).toEqual(JSON.parse(JSON.stringify(createHomeportSchema())))
})

test.each([[[]], [['nothing']], [['check', 'a', 'b']], [['check', 'missing']]])('wrong use: %j', async (positionals) => {
  await expect(run(positionals)).rejects.toThrow(/Use config|Too many|There is no folder/)
})
