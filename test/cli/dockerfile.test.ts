import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CommandContext } from '../../server/cli/command.ts'
import { dockerfile } from '../../server/cli/dockerfile.ts'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'homeport-dockerfile-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function run(files: Record<string, string>, is_json = false) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) }
  const code = await dockerfile.run({ positionals: [], flags: {}, terminal, is_json, cwd: folder } as unknown as CommandContext)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

test('prints the Dockerfile of an app, and as JSON with its framework', async () => {
  const files = { 'requirements.txt': 'flask', 'app.py': 'app = Flask(__name__)' }
  const { code, out } = await run(files)
  expect(code).toBe(0)
  expect(out).toMatch(/^FROM python:.*\n[^]*\nCMD exec gunicorn app:app --bind 0\.0\.0\.0:\$PORT\n[^]*\nCOPY \. \.$/)
  expect(JSON.parse((await run(files, true)).out)).toEqual({ framework: 'flask', dockerfile: `${out}\n` })
})

test.each([
  [
    { 'package.json': '{"scripts": {"start": "node server.js"}}' },
    'This app is built without a Dockerfile: Homeport installs, builds and starts it with Node.',
  ],
  [{ Dockerfile: 'FROM scratch' }, 'This app has its own Dockerfile, which is built without changes.'],
  [
    { 'notes.txt': '' },
    'The source has no package.json, no Dockerfile and no index.html. Add one of them, or set root_directory to the app’s folder.',
  ],
])('explains why there is none: %j', async (files, message) => {
  expect(await run(files)).toEqual({ code: 1, out: '', err: message })
})
