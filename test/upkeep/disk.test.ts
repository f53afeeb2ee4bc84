/** Retention, disk use and clean-up of a whole platform without Docker. Sizes are checked against the folder itself. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DiskUse } from '../../server/contract/upkeep.ts'
import { stillCounting } from '../../server/upkeep/disk-notes.ts'
import { startTestPlatform, until, type TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'

let home: TestPlatform
const repositories: Repository[] = []
const mebibyte = 2 ** 20

beforeAll(async () => {
  home = await startTestPlatform({ runtime: 'process' })
})
afterAll(async () => {
  await home.remove()
  for (const repository of repositories) repository.remove()
})

const connect = async (slug: string, files: Record<string, string>) => {
  const repository = makeRepository(files)
  repositories.push(repository)
  await home.createProject({ slug, repo_url: repository.url })
  return repository
}
const live = async (slug: string) => {
  const { id } = await home.deploy(slug)
  const { status, error } = await home.ended(slug, id)
  expect([status, error]).toEqual(['ready', null])
  return id
}
const rollBack = async (slug: string, id: string) => {
  const { body } = await home.api<{ deployment: { id: string } }>('POST', `/v1/projects/${slug}/deployments/${id}/rollback`)
  expect((await home.ended(slug, body.deployment.id)).status).toBe('ready')
  return body.deployment.id
}
const names = (...place: string[]) => (existsSync(join(home.data_dir, ...place)) ? readdirSync(join(home.data_dir, ...place)).toSorted() : [])
const keep = (number: number) => home.api('PATCH', '/instance/settings', { keep_deployments: number })
const bundlesBecome = (...ids: string[]) =>
  until(() => ids.toSorted().join() === names('bundles').join() || undefined, { what: `the bundles to be ${ids.join()}` })
/** A count that takes the platform too long is told as far as it got: then it is asked for its end. */
const disk = () =>
  until(
    async () => {
      const { status, body } = await home.api<{ kinds: DiskUse[]; total_bytes: number; free_bytes: number; data_dir: string }>(
        'GET',
        '/instance/disk',
      )
      expect(status).toBe(200)
      return body.kinds.some(({ place, note }) => place === 'data_folder' && note === stillCounting) ? undefined : body
    },
    { what: 'the end of the count' },
  )
const use = async (kind: string) => (await disk()).kinds.find((one) => one.kind === kind && one.place === 'data_folder')!
const clean = async (...kinds: string[]) => {
  const { status, body } = await home.api<{ freed: { kind: string; bytes: number; count: number; note: string | null }[]; freed_bytes: number }>(
    'POST',
    '/instance/disk/clean',
    kinds.length === 0 ? {} : { kinds },
  )
  expect(status).toBe(200)
  return body
}
/** Blocks, as `du` counts them. */
const sizeOf = (...place: string[]) =>
  Number(execFileSync('du', ['-s', '--block-size=1', join(home.data_dir, ...place)], { encoding: 'utf8' }).split('\t')[0])
const age = (...place: string[]) => {
  const before = new Date(Date.now() - 3_600_000)
  utimesSync(join(home.data_dir, ...place), before, before)
}

test('as many builds are kept as the setting says, the rest goes with the next deployment; fewer go at once', async () => {
  const repository = await connect('keeps', tinyServer('v0'))
  await keep(3)
  const ids: string[] = []
  for (let version = 1; version <= 5; version++) {
    repository.commit(tinyServer(`v${version}`))
    ids.push(await live('keeps'))
  }
  await bundlesBecome(...ids.slice(-3))
  const older = await home.deployment('keeps', ids[0]!)
  expect(older.can_rollback).toBe(true)

  await keep(1)
  await bundlesBecome(...ids.slice(-2))
  expect((await home.edge('keeps.localhost')).body).toBe('v5')
  // To what served before, at once and without a build.
  const back = await rollBack('keeps', ids[3]!)
  expect((await home.deployment('keeps', back)).build_log).toContain('is used again')
  expect((await home.edge('keeps.localhost')).body).toBe('v4')
})

test('a roll-back keeps the build that it shares with its parent, over the parent’s end, and frees it at its own', async () => {
  const repository = await connect('shares', tinyServer('one'))
  await keep(2)
  const one = await live('shares')
  repository.commit(tinyServer('two'))
  const two = await live('shares')
  const back = await rollBack('shares', one)
  const mine = () => names('bundles').filter((name) => [one, two, back, ...later].includes(name))
  const later: string[] = []
  expect((await home.edge('shares.localhost')).body).toBe('one')
  repository.commit(tinyServer('three'))
  later.push(await live('shares'))
  // One has made room by now; what it built still serves as the way back.
  await until(() => !names('bundles').includes(two) || undefined, { what: 'two to go' })
  expect(mine()).toContain(one)
  await clean()
  const again = await rollBack('shares', back)
  later.push(again)
  expect((await home.edge('shares.localhost')).body).toBe('one')
  expect(mine()).toContain(one)

  for (const version of ['four', 'five', 'six']) {
    repository.commit(tinyServer(version))
    later.push(await live('shares'))
  }
  await until(() => !names('bundles').includes(one) || undefined, { what: 'one to go with the last that used it' })
  expect((await home.edge('shares.localhost')).body).toBe('six')
})

test('copies of deployed folders go like builds, also those of deployments that failed', async () => {
  await keep(2)
  const folder = mkdtempSync(join(tmpdir(), 'homeport-folder-'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { build: 'exit 1', start: 'node x' } }))
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    const { body } = await home.api<{ deployment: { id: string } }>('POST', '/instance/deploy-folder', { path: folder, slug: 'folder' })
    ids.push(body.deployment.id)
    expect((await home.ended('folder', body.deployment.id)).status).toBe('failed')
  }
  await keep(3)
  await until(
    () =>
      names('sources')
        .filter((name) => ids.includes(name))
        .join() === ids.slice(-3).toSorted().join() || undefined,
    {
      what: 'the older copies to go',
    },
  )
  // The source of the oldest kept one is still there for a retry.
  const { body } = await home.api<{ deployment: { id: string } }>('POST', `/v1/projects/folder/deployments/${ids[2]}/retry`)
  expect((await home.ended('folder', body.deployment.id)).error?.code).toBe('build_failed')
  rmSync(folder, { recursive: true })
})

test('each file of the data folder is counted once, under one kind', async () => {
  const { kinds, total_bytes, free_bytes, data_dir } = await disk()
  expect(data_dir).toBe(home.data_dir)
  expect(free_bytes).toBeGreaterThan(0)
  const here = kinds.filter(({ place }) => place === 'data_folder')
  expect(new Set(here.map(({ kind }) => kind)).size).toBe(here.length)
  expect(total_bytes).toBe(kinds.reduce((total, { bytes }) => total + bytes, 0))
  const counted = here.reduce((total, { bytes }) => total + bytes, 0)
  // `du` also counts the folders around what is counted; and a log may have grown in between.
  expect(Math.abs(sizeOf() - counted)).toBeLessThan(2 * mebibyte)
  for (const kind of ['ledger', 'logs', 'metrics', 'bundles']) expect([kind, here.find((one) => one.kind === kind)!.bytes > 0]).toEqual([kind, true])
  expect(here.every(({ reclaimable_bytes, bytes }) => reclaimable_bytes !== null && reclaimable_bytes <= bytes)).toBe(true)
})

test('a clean-up takes what nobody knows, and says how much that was; what is new, known or not Homeport’s stays', async () => {
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
  for (const place of [...orphans, ...young]) {
    mkdirSync(join(home.data_dir, ...place.slice(0, -1)), { recursive: true })
    if (place[0] === 'archives') writeFileSync(join(home.data_dir, ...place), Buffer.alloc(mebibyte, 1))
    else {
      mkdirSync(join(home.data_dir, ...place, 'deep'), { recursive: true })
      writeFileSync(join(home.data_dir, ...place, 'deep', 'file'), Buffer.alloc(mebibyte, 1))
    }
  }
  for (const place of orphans) age(...place)
  writeFileSync(join(home.data_dir, 'notes-of-mine.txt'), 'mine')
  const serving = names('bundles').filter((name) => name !== 'dpl_unknown')
  // It is made soon after the start, and larger than what may differ below.
  await until(() => names('backups').find((name) => /^hourly-.*\.db$/.test(name)), { what: 'the first safe copy' })
  const before = sizeOf()

  const told = await use('bundles')
  expect(told.reclaimable_bytes).toBeGreaterThan(5 * mebibyte)
  const { freed, freed_bytes } = await clean('bundles')
  expect(freed).toEqual([{ kind: 'bundles', bytes: told.reclaimable_bytes, count: orphans.length, note: null }])
  expect(Math.abs(before - sizeOf() - freed_bytes)).toBeLessThan(mebibyte / 4)

  expect(orphans.filter((place) => existsSync(join(home.data_dir, ...place)))).toEqual([])
  expect(young.filter((place) => !existsSync(join(home.data_dir, ...place)))).toEqual([])
  expect(names('bundles')).toEqual(serving)
  expect(existsSync(join(home.data_dir, 'notes-of-mine.txt'))).toBe(true)
  expect((await use('bundles')).reclaimable_bytes).toBe(0)
  expect((await home.edge('shares.localhost')).body).toBe('six')
})

test('caches of builds go, but not under a build that is going on', async () => {
  const [began, go] = [join(home.data_dir, 'began'), join(home.data_dir, 'go')]
  const build = `const fs = require('node:fs'); fs.writeFileSync(${JSON.stringify(began)}, ''); setInterval(() => fs.existsSync(${JSON.stringify(go)}) && process.exit(), 20)`
  const files = tinyServer('built')
  await connect('builds', {
    ...files,
    'package.json': JSON.stringify({ scripts: { build: 'node build.js', start: 'node server.js' } }),
    'build.js': build,
  })
  const { body } = await home.api<{ project: { id: string } }>('GET', '/v1/projects/builds')
  const [busy, idle] = [
    ['cache', 'dependencies', body.project.id],
    ['cache', 'dependencies', 'prj_idle'],
  ]
  for (const place of [busy, idle]) {
    mkdirSync(join(home.data_dir, ...place, 'set'), { recursive: true })
    writeFileSync(join(home.data_dir, ...place, 'set', 'file'), Buffer.alloc(mebibyte, 1))
  }
  const { id } = await home.deploy('builds')
  await until(() => existsSync(began) || undefined, { what: 'the build to begin' })
  age('work', id)
  await clean()
  expect(existsSync(join(home.data_dir, ...busy))).toBe(true)
  expect(existsSync(join(home.data_dir, ...idle))).toBe(false)
  expect(names('work')).toContain(id)
  writeFileSync(go, '')
  expect((await home.ended('builds', id)).status).toBe('ready')
  expect((await clean('build_cache')).freed_bytes).toBeGreaterThanOrEqual(mebibyte)
  expect(existsSync(join(home.data_dir, ...busy))).toBe(false)
  expect((await home.edge('builds.localhost')).body).toBe('built')
})

test('the room of logs that are gone is given back to the disk', async () => {
  await connect('talks', tinyServer('talks', "for (let i = 0; i < 6000; i++) console.log('x'.repeat(1000))"))
  await live('talks')
  await until(async () => ((await use('logs')).bytes > 5 * mebibyte ? true : undefined), { what: 'the log to grow' })
  await home.api('DELETE', '/v1/projects/talks')
  await until(async () => ((await use('logs')).reclaimable_bytes! > 4 * mebibyte ? true : undefined), { what: 'the log to be dropped' })
  const before = (await use('logs')).bytes
  const { freed_bytes } = await clean('logs')
  expect(freed_bytes).toBeGreaterThan(4 * mebibyte)
  expect((await use('logs')).bytes).toBeLessThanOrEqual(before - freed_bytes + mebibyte / 4)
  expect((await use('logs')).reclaimable_bytes).toBeLessThan(mebibyte)
  // And it goes on.
  await live('shares')
})

test('400 a kind that is never cleaned; 403 for others than the owner', async () => {
  expect((await home.api('POST', '/instance/disk/clean', { kinds: ['ledger'] })).status).toBe(400)
  expect((await home.api('POST', '/instance/disk/clean', { kinds: [] })).status).toBe(400)
  const { body } = await home.api<{ token: string }>('POST', '/instance/users', { email: 'other@example.com', verified: true })
  for (const [method, path] of [
    ['GET', '/instance/disk'],
    ['POST', '/instance/disk/clean'],
  ] as const)
    expect((await home.api(method, path, method === 'POST' ? {} : undefined, body.token)).status).toBe(403)
})
