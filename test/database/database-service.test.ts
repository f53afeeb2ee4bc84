/** The rows of databases and their queued drops, on drivers in memory. */
import { type RuntimeName, runtimeNames } from '../../server/contract/runtimes.ts'
import type { DomainEvent } from '../../server/contract/domain-events.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDatabaseService, type DatabaseDrop } from '../../server/database/database-service.ts'
import type { DatabaseServers } from '../../server/database/index.ts'
import { DumpError } from '../../server/database/dump-database.ts'
import { bootstrapInstance } from '../../server/features/bootstrap-instance.ts'
import { createEventBus } from '../../server/lib/event-bus.ts'
import { silentLog } from '../../server/lib/log.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { fixedClock } from '../support/test-clock.ts'
import { insertSampleProject, sealer } from '../maintenance/forged-backups.ts'
import { createFakeServer, type FakeServer } from './fake-server.ts'

const project = 'prj_1'
const { signal } = new AbortController()
let folder: string
let store: Store
let dumped: string[]
/** Servers for new databases. */
let servers: Record<RuntimeName, FakeServer>
let older: Record<RuntimeName, FakeServer>

/** Created again for each run of the platform. */
const open = () =>
  createDatabaseService({
    db: store.db,
    sealer,
    events: createEventBus<DomainEvent>(),
    clock: fixedClock('2026-01-31'),
    log: silentLog,
    servers: Object.fromEntries(runtimeNames.map((name) => [name, { 15: older[name], 18: servers[name] }])) as unknown as DatabaseServers,
    default_runtime: 'process',
    beforeDrop: async ({ row }) => void dumped.push(row.db_name),
  })
let databases: ReturnType<typeof open>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-databases-'))
  store = await openStore({ data_dir: folder, after_crash: false })
  const { owner } = await bootstrapInstance({ db: store.db, sealer, clock: fixedClock('2026-01-31') })
  await store.db.write((tx) => insertSampleProject(tx, owner.account_id))
  servers = Object.fromEntries(runtimeNames.map((name) => [name, createFakeServer(name)])) as typeof servers
  older = Object.fromEntries(runtimeNames.map((name) => [name, createFakeServer(name, 15)])) as typeof servers
  dumped = []
  databases = open()
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const drops = () =>
  store.db.readSync((tx) =>
    (tx.statement('SELECT * FROM cleanups').all() as { target: string }[]).map((row) => JSON.stringify(row).match(/p_[0-9a-z]{26}/)?.[0]),
  )
async function* text(sql: string) {
  yield Buffer.from(sql)
}

test('a creation that fails because the server is down is undone: no row, and a queued drop', async () => {
  servers.process.is_away = true
  await expect(databases.create(project)).rejects.toThrow('It is away.')
  expect(await databases.find(project)).toBeUndefined()
  const [name = ''] = drops()
  servers.process.is_away = false
  await databases.finishDrop({ kind: 'database', driver: 'process', version: 18, db_name: name } satisfies DatabaseDrop)
  expect((await databases.create(project))?.row).toMatchObject({ driver: 'process', is_ready: 1 })
  expect(servers.process.databases.size).toBe(1)
})

test('of concurrent creations exactly one succeeds', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => databases.create(project)))
  expect(made.filter((one) => one !== undefined)).toHaveLength(1)
  expect(servers.process.databases.size).toBe(1)
})

test('the next run undoes an unfinished creation, and the database can be created again', async () => {
  const { row } = (await databases.create(project))!
  store.db.writeSync((tx) => tx.statement('UPDATE databases SET is_ready = 0').run())
  databases = open()
  await databases.start()
  expect(await databases.find(project)).toBeUndefined()
  expect(drops()).toEqual([row.db_name])
  expect((await databases.create(project))?.row.db_name).not.toBe(row.db_name)
})

test('an app gets the URL of a database that it can reach, otherwise a note; the log mask gets the secrets either way', async () => {
  expect(await databases.variablesFor(project, 'production', 'main', 'process')).toEqual({ variables: {}, secrets: [], note: null })
  const { row } = (await databases.create(project))!
  const { password } = databases.open(row).spec
  const url = `postgresql://${row.db_name}:${password}@127.0.0.1:5432/${row.db_name}`
  expect(await databases.variablesFor(project, 'production', 'main', 'process')).toEqual({
    variables: { DATABASE_URL: url },
    secrets: [url, password],
    note: null,
  })
  expect(await databases.variablesFor(project, 'production', 'main', 'docker')).toEqual({
    variables: {},
    secrets: [password],
    note: expect.stringContaining('on the process runtime and apps on docker cannot reach it'),
  })
  expect((await databases.variablesFor(project, 'preview', 'main', 'process')).variables).toEqual({})
})

test('a preview gets a copy once; a copy that cannot be filled is undone with the reason', async () => {
  expect(await databases.copyForPreview(project, 'feature', signal)).toBe(false)
  const { row } = (await databases.create(project))!
  servers.process.databases.set(row.db_name, 'its rows')
  servers.process.dump = () => {
    throw new DumpError('the app is holding a lock on a table', undefined)
  }
  await expect(databases.copyForPreview(project, 'feature', signal)).rejects.toThrow(/could not be copied for this preview: the app is holding/)
  expect(await databases.find(project, 'feature')).toBeUndefined()
  servers.process.dump = () => text('its rows')
  expect(await databases.copyForPreview(project, 'feature', signal)).toBe(true)
  expect(await databases.copyForPreview(project, 'feature', signal)).toBe(true)
  const copy = (await databases.find(project, 'feature'))!
  expect(servers.process.databases.get(copy.db_name)).toBe('its rows')
  await databases.dropPreview(project, 'feature')
  expect(drops()).toContain(copy.db_name)
})

test('deleting a project dumps its own database and drops all of its databases', async () => {
  const { row } = (await databases.create(project))!
  await databases.copyForPreview(project, 'feature', signal)
  await databases.forgetProject(project)
  expect(dumped).toEqual([row.db_name])
  expect(drops()).toHaveLength(2)
  expect(await databases.find(project)).toBeUndefined()
})

test('the server is removed with its last database, and not before', async () => {
  const { row } = (await databases.create(project))!
  await databases.copyForPreview(project, 'feature', signal)
  const copy = (await databases.find(project, 'feature'))!
  await databases.dropPreview(project, 'feature')
  await databases.finishDrop({ kind: 'database', driver: 'process', version: 18, db_name: copy.db_name })
  expect(servers.process.retired).toBe(0)
  await databases.remove(project)
  await databases.finishDrop({ kind: 'database', driver: 'process', version: 18, db_name: row.db_name })
  expect([servers.process.retired, servers.docker.retired]).toEqual([1, 0])
})

test('a restored database is created and filled on an available server', async () => {
  const { row } = (await databases.create(project))!
  servers.process.is_away = true
  await databases.restoreDump(row.db_name, text('restored'), signal)
  expect(servers.docker.databases.get(row.db_name)).toBe('restored')
  expect((await databases.find(project))?.driver).toBe('docker')
  servers.docker.is_away = true
  expect(await databases.checks()).toEqual([
    { name: 'databases docker', status: 'warning', message: 'It is away. (PostgreSQL 18.1)', hint: 'Start it.' },
  ])
})

test('a database of an earlier version stays on its server, and its backup is restored to a newer server if that one is unavailable', async () => {
  const { row } = (await databases.create(project))!
  store.db.writeSync((tx) => tx.statement('UPDATE databases SET version = 15').run())
  await databases.restoreDump(row.db_name, text('restored'), signal)
  expect([older.process.databases.get(row.db_name), (await databases.find(project))?.version]).toEqual(['restored', 15])
  older.process.is_away = true
  await databases.restoreDump(row.db_name, text('restored again'), signal)
  expect([servers.process.databases.get(row.db_name), (await databases.find(project))?.version]).toEqual(['restored again', 18])
})

test('a delayed drop spares a database that an upgrade created under the same name', async () => {
  const { row } = (await databases.create(project))!
  const drop = { kind: 'database', driver: 'process', db_name: row.db_name } as const
  older.process.databases.set(row.db_name, 'kept')
  store.db.writeSync((tx) => tx.statement('UPDATE databases SET previous_version = 15').run())
  await databases.finishDrop({ ...drop, version: 18 })
  await databases.finishDrop(drop)
  expect([servers.process.databases.size, older.process.databases.size]).toEqual([1, 1])
  store.db.writeSync((tx) => tx.statement('UPDATE databases SET previous_version = NULL').run())
  await databases.finishDrop(drop)
  expect([servers.process.databases.size, older.process.databases.size, older.process.retired]).toEqual([1, 0, 1])
})
