import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { planBuild } from '../../server/builder/index.ts'
import type { BuildPlan, BuildSettings } from '../../server/contract/build-plan.ts'
import { apps } from '../apps/apps.ts'

const auto: BuildSettings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-builder-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const write = async (files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
const plan = (settings: Partial<BuildSettings> = {}) => planBuild({ folder, settings: { ...auto, ...settings } })
const packageJson = (more: object = {}) => JSON.stringify({ name: 'x', private: true, scripts: { start: 'node server.js' }, ...more })
const server = { 'package.json': packageJson(), 'server.js': '' }
const workOf = (found: BuildPlan) => {
  if (found.work.kind === 'dockerfile' || found.work.kind === 'toolchain') throw new Error('a plan for Node was expected')
  return found.work
}

describe('the real apps', () => {
  test.each(apps)('detects $name', async (app) => {
    const found = await planBuild({ folder: app.directory, settings: { ...auto, ...app.settings } })
    expect(found.framework).toBe(app.expects.framework)
    expect(found.work.kind).toBe(app.expects.kind)
    if (found.work.kind === 'static') expect(found.work.spa_fallback).toBe(app.expects.spa_fallback)
    expect(found.explanation.length).toBeGreaterThan(0)
  })
})

describe('the version of Node', () => {
  test.each([
    ['.nvmrc', { '.nvmrc': '22\n' }, '22'],
    ['.node-version', { '.node-version': 'v20.11.1\n' }, '20.11.1'],
    ['engines', { 'package.json': packageJson({ engines: { node: '>=20 <23' } }) }, '22'],
    ['nothing', {}, '24'],
  ] as const)('by %s', async (name, files, version) => {
    await write({ ...server, ...files })
    const found = await plan()
    expect(workOf(found).node_version).toBe(version)
    if (name !== 'nothing') expect(found.explanation.join('\n')).toContain(name)
  })

  test('the project setting takes precedence', async () => {
    await write({ ...server, '.nvmrc': '20' })
    expect(workOf(await plan({ node_version: '22' })).node_version).toBe('22')
  })

  test('a setting that names no version is reported, not ignored', async () => {
    await write({ ...server, '.nvmrc': '20' })
    await expect(plan({ node_version: 'twenty' })).rejects.toMatchObject({
      code: 'detect_failed',
      message: expect.stringContaining('“twenty”') as unknown,
    })
  })
})

describe('settings of the project', () => {
  test('commands override the detected ones', async () => {
    await write({ ...server, 'package.json': packageJson({ scripts: { build: 'x', start: 'node server.js' } }) })
    const work = workOf(await plan({ install_command: 'make deps', build_command: 'make all' }))
    expect(work.install_command).toBe('make deps')
    expect(work.build_command).toBe('make all')
  })

  test('a folder inside a workspace installs at its root', async () => {
    await write({
      'package.json': JSON.stringify({ private: true, workspaces: ['apps/*'] }),
      'package-lock.json': '{"lockfileVersion":3,"packages":{}}',
      'apps/api/package.json': packageJson({ dependencies: { fastify: '5.0.0' } }),
      'apps/api/server.js': '',
    })
    const work = workOf(await plan({ root_directory: 'apps/api' }))
    expect(work.install_directory).toBe('.')
    expect(work.app_directory).toBe('apps/api')
  })

  test.each([
    ['that does not exist', 'nowhere'],
    ['that is a file', 'server.js'],
    ['that links outside the source', 'out'],
  ])('a folder %s fails, with a fix', async (_what, root_directory) => {
    await write(server)
    await symlink('/etc', join(folder, 'out'))
    await expect(plan({ root_directory })).rejects.toMatchObject({ code: 'detect_failed', hint: expect.stringMatching(/\w{3,}/) })
  })
})

describe('a source that is not an app', () => {
  test.each([
    ['an empty folder', {}],
    ['an invalid package.json', { 'package.json': '{ "name": ' }],
    ['a package.json that is a list', { 'package.json': '[]' }],
    ['only a README', { 'README.md': '# Hello' }],
  ] as const)('%s fails, with a fix', async (_name, files) => {
    await write(files)
    await expect(plan()).rejects.toMatchObject({
      code: 'detect_failed',
      message: expect.stringMatching(/\w{3,}/),
      hint: expect.stringMatching(/\w{3,}/),
    })
  })
})

test('a package.json that is a list is named', async () => {
  await write({ 'package.json': '[]' })
  await expect(plan()).rejects.toMatchObject({ message: 'package.json is not a JSON object.' })
})

describe('the key of the dependency cache', () => {
  const lock = (n: number) => ({ 'package-lock.json': `{"lockfileVersion":3,"packages":{"":{"version":"${n}"}}}` })
  const keyOf = async (files: Record<string, string>, settings: Partial<BuildSettings> = {}) => {
    await write({ 'package.json': packageJson({ dependencies: { express: '5.0.0' } }), 'server.js': '', ...files })
    return workOf(await plan(settings)).install_key
  }

  test('does not change when only the source changes', async () => {
    const before = await keyOf(lock(1))
    expect(await keyOf({ ...lock(1), 'server.js': 'changed', 'other.js': '' })).toBe(before)
  })

  test('changes with the lock file, the version of Node and the install command', async () => {
    const before = await keyOf(lock(1))
    const others = [
      await keyOf(lock(1), { node_version: '22' }),
      await keyOf(lock(1), { install_command: 'npm ci --omit=dev' }),
      await keyOf(lock(2)),
    ]
    expect(new Set([before, ...others]).size).toBe(4)
  })
})
