/** A standby copies an instance over its API, and its copy starts as that instance. The lease of a cluster is in lease.test.ts, both on a swarm in deployments/standby.full.test.ts. */
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../server/cli/client.ts'
import { createPrimary } from '../../server/cli/standby.ts'
import type { Standby } from '../../server/contract/standbys.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import {
  followPrimary,
  openStandbyState,
  type Primary,
  removeStandbyState,
  type StandbyState,
} from '../../server/maintenance/standby/follow-primary.ts'
import { promoteReplica } from '../../server/maintenance/standby/promote-replica.ts'
import { openSqlite } from '../../server/store/sqlite.ts'
import { runCommand } from '../support/command.ts'
import { fullTest } from '../support/full-test.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'

const site = makeRepository({ 'index.html': 'the site', 'deep/er/page.html': 'a page' })
let platform: TestPlatform
const folders: string[] = []
const stops: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process' })
  await platform.createProject({ slug: 'site', repo_url: site.url })
  expect(await platform.waitForEnd('site', (await platform.deploy('site')).id)).toMatchObject({ status: 'ready' })
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})
afterAll(async () => {
  await platform.remove()
  site.remove()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-standby-'))
  folders.push(folder)
  return folder
}
const connect = (name: string, { token }: { token: string | undefined } = platform.handle.instance) =>
  createPrimary(createApiClient({ url: platform.handle.api_url, token }), name)

/** Follows until the end of the test, or until it is stopped. */
async function startStandby(data_dir: string, primary: Primary) {
  const state = await openStandbyState(data_dir, platform.handle.api_url)
  const stopping = new AbortController()
  const changes: string[] = []
  const following = followPrimary({
    primary,
    state,
    data_dir,
    clock: systemClock,
    log: silentLog,
    signal: stopping.signal,
    checkCopy: async () => {},
    onChange: (status, error) => changes.push(error instanceof Error ? `${status}: ${error.message}` : status),
  })
  const stop = async () => {
    stopping.abort()
    await following
  }
  stops.push(stop)
  return { state, changes, following, stop }
}

const listStandbys = async () => (await platform.api<{ standbys: Standby[] }>('GET', '/instance/standbys')).body.standbys
/** Until everything of now has arrived. */
const waitForSync = (state: StandbyState, hasSite = true) => {
  const from = Date.now()
  const isDone = () =>
    state.synced_at !== null &&
    Date.parse(state.synced_at) > from &&
    (!hasSite || Object.keys(state.parts).some((part) => part.startsWith('bundles/')))
  return until(() => isDone() || undefined, { what: 'a standby that has everything' })
}

describe('a standby', () => {
  test('has what the instance has, also after it was away, and starts as that instance', async () => {
    const data_dir = newFolder()
    const first = await startStandby(data_dir, connect('two.0a1b2c3d'))
    await waitForSync(first.state)
    // The platform itself writes too, such as when a token was last used.
    const standbys = await until(async () => ((await listStandbys())[0]?.is_synced ? listStandbys() : undefined), { what: 'a standby in step' })
    expect(standbys).toEqual([expect.objectContaining({ name: 'two', takes_over: false })])
    const printed = await runCommand(platform.handle.instance, '.', ['standby', 'list'])
    expect(printed.out).toMatch(/^STANDBY +STATE +SEEN +TAKES OVER\ntwo +(In step|.* behind) +\d+ s ago +no\n$/)
    await platform.createProject({ slug: 'later' })
    await first.stop()
    await platform.createProject({ slug: 'while-away' })
    const second = await startStandby(data_dir, connect('two.0a1b2c3d'))
    await platform.createProject({ slug: 'last' })
    await waitForSync(second.state)
    await second.stop()

    const [page = ''] = readdirSync(join(data_dir, 'bundles'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('page.html'))
    expect(readFileSync(join(data_dir, 'bundles', page), 'utf8')).toBe('a page')
    writeFileSync(join(data_dir, 'bundles', page), 'of the standby')

    // A standby is none that serves.
    await expect(startTestPlatform({ runtime: 'process', data_dir })).rejects.toThrow(/is the folder of a standby of http/)
    await promoteReplica(data_dir)
    await removeStandbyState(data_dir)
    copyFileSync(join(platform.data_dir, 'master.key'), join(data_dir, 'master.key'))
    const promoted = await startTestPlatform({ runtime: 'process', data_dir })
    try {
      const { body } = await promoted.api<{ projects: { slug: string }[] }>('GET', '/v1/projects')
      expect(body.projects.map(({ slug }) => slug).sort()).toEqual(['last', 'later', 'site', 'while-away'])
      expect(await promoted.fetchEdge('site.localhost', '/deep/er/page.html')).toMatchObject({ status: 200, body: 'of the standby' })
    } finally {
      await promoted.remove()
    }
  })

  fullTest('follows over checkpoints of the database, and keeps its log short', async () => {
    const data_dir = newFolder()
    const { state, stop } = await startStandby(data_dir, connect('three.0a1b2c3d'))
    await waitForSync(state, false)
    const values = Array.from({ length: 200 }, (_, i) => ({ key: `LONG_${i}`, value: 'v'.repeat(9_000) }))
    await platform.createProject({ slug: 'large' })
    for (const value of values) expect((await platform.api('POST', '/v1/projects/large/env-vars', value)).status).toBe(201)
    // The log is moved into the file by a timer.
    await until(() => statSync(join(platform.data_dir, 'homeport.db-wal')).size < 2 ** 20 || undefined, { what: 'a checkpoint' })
    await waitForSync(state, false)
    const log = join(data_dir, 'homeport.db-wal')
    expect(existsSync(log) ? statSync(log).size : 0).toBeLessThan(2 ** 21)
    await stop()
    await promoteReplica(data_dir)
    expect(statSync(join(data_dir, 'homeport.db')).size).toBeGreaterThan(200 * 9_000)
  })

  fullTest('removes what the instance has removed', async () => {
    await platform.createProject({ slug: 'short', repo_url: site.url })
    await platform.waitForEnd('short', (await platform.deploy('short')).id)
    const data_dir = newFolder()
    const { state } = await startStandby(data_dir, connect('four.0a1b2c3d'))
    await until(() => Object.keys(state.parts).filter((part) => part.startsWith('bundles/')).length === 2 || undefined, { what: 'both sites' })
    await platform.api('DELETE', '/v1/projects/short')
    await until(() => readdirSync(join(data_dir, 'bundles')).length === 1 || undefined, { what: 'one site' })
  })

  test('keeps its copy when a new one does not arrive whole, and says why it does not follow', async () => {
    const data_dir = newFolder()
    const first = await startStandby(data_dir, connect('five.0a1b2c3d'))
    await waitForSync(first.state)
    await first.stop()
    const size = statSync(join(data_dir, 'homeport.db')).size
    const broken: Primary = {
      ...connect('five.0a1b2c3d'),
      copyDatabase: async () =>
        (async function* () {
          yield Buffer.from('SQLite format 3\0')
          throw new Error('The connection was lost.')
        })(),
    }
    const second = await startStandby(data_dir, broken)
    await until(() => second.changes[0], { what: 'a failure' })
    expect(second.changes).toEqual(['unreachable: The connection was lost.'])
    await second.stop()
    expect(statSync(join(data_dir, 'homeport.db')).size).toBe(size)
    await promoteReplica(data_dir)
  })

  test('follows no instance that is newer, because it could not open its database', async () => {
    const data_dir = newFolder()
    const newer = join(newFolder(), 'newer.db')
    const db = openSqlite({ path: newer, durable: false })
    db.raw.pragma('user_version = 9999')
    await db.close()
    const copyDatabase = async () => createReadStream(newer)
    const { following } = await startStandby(data_dir, { ...connect('eight.0a1b2c3d'), copyDatabase })
    await expect(following).rejects.toThrow(/is a newer Homeport than this one.*Update Homeport on this machine\./)
    stops.length = 0
    expect(existsSync(join(data_dir, 'homeport.db'))).toBe(false)
  })

  test('follows changes while it copies files, and takes no path from the instance', async () => {
    const data_dir = newFolder()
    const outside = newFolder()
    writeFileSync(join(outside, 'kept'), '')
    const name = relative(join(data_dir, 'bundles'), outside)
    const primary = connect('seven.0a1b2c3d')
    const asked: string[] = []
    const opened = Promise.withResolvers<AsyncIterable<Uint8Array>>()
    const slow: Primary = {
      ...primary,
      copyPart(part) {
        asked.push(part.part)
        return opened.promise
      },
    }
    const { state, stop } = await startStandby(data_dir, slow)
    await until(() => asked[0], { what: 'a part' })
    await platform.createProject({ slug: 'meanwhile' })
    await waitForSync(state, false)
    opened.reject(new Error('It was too slow.'))
    await stop()

    const hostile: Primary = { ...slow, listParts: async () => [{ folder: 'bundles', part: name, version: '1' }] }
    const second = await startStandby(newFolder(), hostile)
    await waitForSync(second.state, false)
    await second.stop()
    expect(asked).not.toContain(name)
    expect(existsSync(join(outside, 'kept'))).toBe(true)
  })

  test('follows one instance, and never writes into the folder of another', async () => {
    const data_dir = newFolder()
    writeFileSync(join(data_dir, 'homeport.db'), 'data')
    await expect(openStandbyState(data_dir, 'http://127.0.0.1:1')).rejects.toThrow(/has the data of an instance/)
    const other = newFolder()
    writeFileSync(join(other, 'standby.json'), JSON.stringify({ of: 'http://127.0.0.1:1', instance_id: 'another', synced_at: null, parts: {} }))
    const { following } = await startStandby(other, connect('six.0a1b2c3d'))
    await expect(following).rejects.toThrow(/is another instance than the one that this folder follows/)
    stops.length = 0
    expect(existsSync(join(other, 'homeport.db'))).toBe(false)
  })

  test('needs the owner, and gets no path that is not a part', async () => {
    expect((await platform.api('GET', '/instance/replication/changes?name=x', undefined, null)).status).toBe(401)
    const member = await runCommand(platform.handle.instance, '.', ['user', 'add', 'member@example.com', '--json'])
    const { token } = JSON.parse(member.out) as { token: string }
    for (const path of ['standbys', 'replication/changes?name=x', 'replication/database', 'replication/parts', 'replication/parts/bundles/dpl_1'])
      expect((await platform.api('GET', `/instance/${path}`, undefined, token)).status).toBe(403)
    mkdirSync(join(platform.data_dir, 'bundles', 'dpl_unknown'), { recursive: true })
    for (const part of ['dpl_unknown', '..%2F..', '.', 'prj_1%2F..'])
      expect((await platform.api('GET', `/instance/replication/parts/bundles/${part}`)).status).toBeGreaterThanOrEqual(400)
  })
})
