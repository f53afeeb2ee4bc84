/** Retention, disk usage and clean-up of a whole platform without Docker. Sizes are compared with the folder itself. */
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { signalFileIn, until } from '../support/platform.ts'
import { tinyServer } from '../support/repository.ts'
import { useDiskPlatform } from './disk-platform.ts'

const { platform, at, names, disk, connect, live, rollBack, keep, become, use, clean, sizeOf } = useDiskPlatform()
const mebibyte = 2 ** 20
/** Old enough that no running operation uses it. */
const age = (...location: string[]) => utimesSync(at(...location), 0, 0)

test('keeps as many builds as the setting says; the rest is removed with the next deployment, or at once when the setting is lowered', async () => {
  const repository = await connect('keeps', tinyServer('v0'))
  await keep(3)
  const ids: string[] = []
  for (let version = 1; version <= 4; version++) {
    repository.commit(tinyServer(`v${version}`))
    ids.push(await live('keeps'))
  }
  await become('bundles', ids.slice(-3))
  const older = await platform().getDeployment('keeps', ids[0]!)
  expect(older.can_rollback).toBe(true)

  await keep(1)
  await become('bundles', ids.slice(-2))
  expect((await platform().fetchEdge('keeps.localhost')).body).toBe('v4')
  // To the previous deployment, at once and without a build.
  const back = await rollBack('keeps', ids[2]!)
  expect((await platform().getDeployment('keeps', back)).build_log).toContain('Reusing the build of')
  expect((await platform().fetchEdge('keeps.localhost')).body).toBe('v3')
})

test('each file of the data folder is counted once, under one kind', async () => {
  const { kinds, total_bytes, free_bytes, data_dir } = await disk()
  expect(data_dir).toBe(platform().data_dir)
  expect(free_bytes).toBeGreaterThan(0)
  const here = kinds.filter(({ location }) => location === 'data_folder')
  expect(new Set(here.map(({ kind }) => kind)).size).toBe(here.length)
  expect(total_bytes).toBe(kinds.reduce((total, { bytes }) => total + bytes, 0))
  const counted = here.reduce((total, { bytes }) => total + bytes, 0)
  // `du` also counts the parent folders; and a log may have grown in between.
  expect(Math.abs(sizeOf() - counted)).toBeLessThan(2 * mebibyte)
  for (const kind of ['instance_database', 'logs', 'metrics', 'bundles'])
    expect([kind, here.find((one) => one.kind === kind)!.bytes > 0]).toEqual([kind, true])
  expect(here.every(({ reclaimable_bytes, bytes }) => reclaimable_bytes !== null && reclaimable_bytes <= bytes)).toBe(true)
})

test('a clean-up removes unknown files, and says how much; recent, known and foreign ones stay', async () => {
  const orphans = [
    ['bundles', 'dpl_unknown'],
    ['sources', 'dpl_unknown'],
    ['work', 'dpl_unknown'],
    ['work', 'dpl_unknown-home'],
    ['archives', 'prj_unknown', 'dpl_unknown'],
  ]
  const young = [
    ['bundles', 'dpl_young'],
    ['archives', 'prj_unknown', 'dpl_young'],
  ]
  for (const location of [...orphans, ...young]) {
    mkdirSync(at(...location.slice(0, -1)), { recursive: true })
    if (location[0] === 'archives') writeFileSync(at(...location), Buffer.alloc(mebibyte, 1))
    else {
      mkdirSync(at(...location, 'deep'), { recursive: true })
      writeFileSync(at(...location, 'deep', 'file'), Buffer.alloc(mebibyte, 1))
    }
  }
  for (const location of orphans) age(...location)
  writeFileSync(at('notes-of-mine.txt'), 'mine')
  const serving = names('bundles').filter((name) => name !== 'dpl_unknown')
  const paths = ['bundles', 'sources', 'work', 'archives']
  const before = sizeOf(...paths)

  const measured = await use('bundles')
  // Folders take space of their own on a disk, and none in memory.
  expect(measured.reclaimable_bytes).toBeGreaterThanOrEqual(5 * mebibyte)
  const { freed, freed_bytes } = await clean('bundles')
  expect(freed).toEqual([{ kind: 'bundles', bytes: measured.reclaimable_bytes, count: orphans.length, note: null }])
  expect(before - sizeOf(...paths)).toBe(freed_bytes)

  expect(orphans.filter((location) => existsSync(at(...location)))).toEqual([])
  expect(young.filter((location) => !existsSync(at(...location)))).toEqual([])
  expect(names('bundles')).toEqual(serving)
  expect(existsSync(at('notes-of-mine.txt'))).toBe(true)
  expect((await use('bundles')).reclaimable_bytes).toBe(0)
  expect((await platform().fetchEdge('keeps.localhost')).body).toBe('v3')
})

fullTest('build caches are removed, but not during a build', async () => {
  const go = signalFileIn(platform().data_dir, 'go')
  const build = `console.log('it began'); setInterval(() => require('node:fs').existsSync(${JSON.stringify(go)}) && process.exit(), 20)`
  const files = tinyServer('built')
  await connect('builds', {
    ...files,
    'package.json': JSON.stringify({ scripts: { build: 'node build.js', start: 'node server.js' } }),
    'build.js': build,
  })
  const { body } = await platform().api<{ project: { id: string } }>('GET', '/v1/projects/builds')
  const [busy, idle] = [
    ['cache', 'dependencies', body.project.id],
    ['cache', 'dependencies', 'prj_idle'],
  ]
  for (const location of [busy, idle]) {
    mkdirSync(at(...location, 'set'), { recursive: true })
    writeFileSync(at(...location, 'set', 'file'), Buffer.alloc(mebibyte, 1))
  }
  const { id } = await platform().deploy('builds')
  await until(async () => (await platform().getDeployment('builds', id)).build_log.includes('it began') || undefined, { what: 'the build to begin' })
  age('work', id)
  await clean()
  expect(existsSync(at(...busy))).toBe(true)
  expect(existsSync(at(...idle))).toBe(false)
  expect(names('work')).toContain(id)
  writeFileSync(go, '')
  expect((await platform().waitForEnd('builds', id)).status).toBe('ready')
  expect((await clean('build_cache')).freed_bytes).toBeGreaterThanOrEqual(mebibyte)
  expect(existsSync(at(...busy))).toBe(false)
  expect((await platform().fetchEdge('builds.localhost')).body).toBe('built')
})

fullTest('the space of deleted logs is returned to the disk', async () => {
  await connect('talks', tinyServer('talks', "for (let i = 0; i < 6000; i++) console.log('x'.repeat(1000))"))
  await live('talks')
  await until(async () => ((await use('logs')).bytes > 5 * mebibyte ? true : undefined), { what: 'the log to grow' })
  await platform().api('DELETE', '/v1/projects/talks')
  await until(async () => ((await use('logs')).reclaimable_bytes! > 4 * mebibyte ? true : undefined), { what: 'the log to be dropped' })
  const before = (await use('logs')).bytes
  const { freed_bytes } = await clean('logs')
  expect(freed_bytes).toBeGreaterThan(4 * mebibyte)
  // The platform has written to its log meanwhile.
  expect((await use('logs')).bytes).toBeLessThan(before - 4 * mebibyte)
  expect((await use('logs')).reclaimable_bytes).toBeLessThan(mebibyte)
  // And it continues to work.
  await live('keeps')
})

test('400 for a kind that cannot be cleaned; 403 for anyone but the owner', async () => {
  expect((await platform().api('POST', '/instance/disk/clean', { kinds: ['instance_database'] })).status).toBe(400)
  expect((await platform().api('POST', '/instance/disk/clean', { kinds: [] })).status).toBe(400)
  const { body } = await platform().api<{ token: string }>('POST', '/instance/users', { email: 'other@example.com', verified: true })
  for (const [method, path] of [
    ['GET', '/instance/disk'],
    ['POST', '/instance/disk/clean'],
  ] as const)
    expect((await platform().api(method, path, method === 'POST' ? {} : undefined, body.token)).status).toBe(403)
})
