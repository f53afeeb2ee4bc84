import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DomainEvent } from '../contract/domain-events.ts'
import { type Clock, isoTime, systemClock } from '../lib/clock.ts'
import { createEventBus, type EventBus } from '../lib/event-bus.ts'
import { type SqliteDatabase, type SqliteTransaction, openSqlite } from './sqlite.ts'
import { createLogSearch, type LogSearch } from './log-search.ts'
import { createDrainProgressStore, type DrainProgressStore } from './drain-progress.ts'
import { createLogStore, type LogStore } from './log-store.ts'
import { createMetricsStore, type MetricsStore } from './metrics-store.ts'
import { createUsageStore, type UsageStore } from './usage-store.ts'
import { migrate } from './migrate.ts'
import { createRequestStore, type RequestStore } from './request-store.ts'
import { createTraceStore, type TraceStore } from './trace-store.ts'
import { logMigrations, metricsMigrations, migrations, requestMigrations, traceMigrations } from './migrations/index.ts'
import { tables } from './query.ts'
import { hasDatabaseCopies, type DatabaseRecovery, recoverDatabase } from './recovery.ts'
import { writeSetting } from './settings.ts'

export type Db = SqliteDatabase
export type Tx = SqliteTransaction

export interface Store {
  db: Db
  logs: LogStore
  logSearch: LogSearch
  drains: DrainProgressStore
  metrics: MetricsStore
  usage: UsageStore
  requests: RequestStore
  traces: TraceStore
  /** Events of committed transactions, and those that their subscribers publish. */
  events: EventBus<DomainEvent>
  /** Set if this start found the main database damaged. */
  recovery: DatabaseRecovery | undefined
  close(): Promise<void>
}

interface StoreFileOptions {
  path: string
  clock: Clock
  onEvent?: (event: DomainEvent) => void
}

/** Files up to this size are checked at every start, which takes a few milliseconds. A larger main database is checked only after a crash. */
const alwaysCheckedLimit_bytes = 32 * 2 ** 20

/**
 * Opens the five files of a data folder. The caller holds the folder's lock. A main database that is damaged, or missing although copies exist, is
 * replaced with the newest intact copy; `recovery` describes it. Without an intact copy the start fails and nothing is changed. `after_crash`: the
 * previous run did not exit properly.
 */
export async function openStore(options: { data_dir: string; after_crash: boolean; clock?: Clock }): Promise<Store> {
  const { data_dir, clock = systemClock } = options
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  const path = join(data_dir, 'homeport.db')
  const bytes = existsSync(path) ? statSync(path).size : 0
  const needsCheck = bytes > 0 && (options.after_crash || bytes <= alwaysCheckedLimit_bytes)

  const events = createEventBus<DomainEvent>()
  const onEvent = events.publish
  let recovery: DatabaseRecovery | undefined
  let db = await openMainDatabase({ path, clock, onEvent }, needsCheck, bytes === 0 && hasDatabaseCopies(data_dir))
  if (db instanceof DamagedDatabaseError) {
    recovery = recoverDatabase({ data_dir, newest_version: migrations.length, why: db.reason, now: isoTime(clock.now()) })
    if (!recovery) throw db
    db = await openMainDatabase({ path, clock, onEvent }, true, false)
    if (db instanceof DamagedDatabaseError) throw db
  }
  await migrate(db, migrations, join(data_dir, 'backups'))
  if (recovery) {
    await db.write((tx) => writeSetting(tx, 'recovered', recovery))
  }

  const logs = await openAuxiliaryDatabase({ path: join(data_dir, 'logs.db'), clock }, logMigrations)
  const metrics = await openAuxiliaryDatabase({ path: join(data_dir, 'metrics.db'), clock }, metricsMigrations)
  const requests = await openAuxiliaryDatabase({ path: join(data_dir, 'requests.db'), clock }, requestMigrations)
  const traces = await openAuxiliaryDatabase({ path: join(data_dir, 'traces.db'), clock }, traceMigrations)
  const mainDatabase = db

  return {
    db: mainDatabase,
    logs: createLogStore(logs),
    logSearch: createLogSearch(logs),
    drains: createDrainProgressStore(logs),
    metrics: createMetricsStore(metrics),
    usage: createUsageStore(metrics),
    requests: createRequestStore(requests),
    traces: createTraceStore(traces),
    events,
    recovery,
    async close() {
      await mainDatabase.close()
      await logs.close()
      await metrics.close()
      await requests.close()
      await traces.close()
    },
  }
}

/** The main database is damaged. It was not changed. */
class DamagedDatabaseError extends Error {
  readonly reason: string
  constructor(path: string, cause?: unknown) {
    const reason = cause === undefined ? 'gone or empty' : 'damaged'
    super(
      `The database ${path} is ${reason}, and no copy in its backups folder is intact. Nothing was changed. Restore a backup into a new folder: homeport restore FILE --data NEW`,
      { cause },
    )
    this.name = 'DamagedDatabaseError'
    this.reason = reason
  }
}

async function openMainDatabase(
  { path, clock, onEvent }: StoreFileOptions,
  needsCheck: boolean,
  isMissing: boolean,
): Promise<Db | DamagedDatabaseError> {
  if (isMissing) return new DamagedDatabaseError(path)
  let db: Db | undefined
  try {
    db = openSqlite({ path, clock, durable: true, onEvent })
    const result = needsCheck ? db.raw.pragma('quick_check(1)', { simple: true }) : 'ok'
    if (result === 'ok') return db
    throw new Error(String(result))
  } catch (cause) {
    await db?.close()
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (db === undefined && !/CORRUPT|NOTADB/.test(code)) throw cause
    return new DamagedDatabaseError(path, cause)
  }
}

class DamagedAuxiliaryDatabaseError extends Error {}

/** Damaged logs, metrics, request logs or traces must not prevent the start: the file is renamed and a new one is created. */
async function openAuxiliaryDatabase({ path, clock }: StoreFileOptions, steps: readonly { name: string; sql: string }[]): Promise<SqliteDatabase> {
  let db: SqliteDatabase | undefined
  try {
    const needsCheck = existsSync(path) && statSync(path).size <= alwaysCheckedLimit_bytes
    db = openSqlite({ path, clock, durable: false })
    if (needsCheck && db.raw.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new DamagedAuxiliaryDatabaseError()
    await migrate(db, steps)
    return db
  } catch (error) {
    await db?.close()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!(error instanceof DamagedAuxiliaryDatabaseError || /CORRUPT|NOTADB/.test(code)) || !existsSync(path)) throw error
    for (const suffix of ['', '-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.damaged${suffix}`)
    return openAuxiliaryDatabase({ path, clock }, steps)
  }
}

export const canRead = (tx: Tx): boolean => tx.first(tables.selectNoFrom((eb) => eb.lit(1).as('one'))) !== undefined

/** SQLite's own quick check: `ok`, or the first thing that is wrong. */
export const checkIntegrity = (tx: Tx): string | undefined =>
  (tx.statement('PRAGMA quick_check(1)').get() as { quick_check: string } | undefined)?.quick_check
