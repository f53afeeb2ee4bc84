import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, isoTime, systemClock } from '../lib/clock.ts'
import { type Database, type Transaction, openDatabase } from './database.ts'
import { createLogStore, type LogStore } from './logs.ts'
import { createMetricsStore, type MetricsStore } from './metrics.ts'
import { migrate } from './migrate.ts'
import { logMigrations, metricsMigrations, migrations } from './migrations/index.ts'
import { hasCopies, type Recovery, recoverLedger } from './recover.ts'
import type { LogTables, MetricsTables, Tables } from './tables.ts'

export type Db = Database<Tables>
export type Tx = Transaction<Tables>

export interface Store {
  db: Db
  logs: LogStore
  metrics: MetricsStore
  /** This start found the ledger damaged. */
  recovered: Recovery | undefined
  close(): Promise<void>
}

interface Place {
  path: string
  clock: Clock
}

/** A file up to this size is checked at every start: it takes a few milliseconds. A larger ledger after a crash. */
const alwaysChecked_bytes = 32 * 2 ** 20

/**
 * Opens the three files of a data folder. The caller holds the folder's lock. A ledger that is damaged, or gone while there are
 * copies of it, is replaced by the newest good copy: `recovered` says so. Without one it is refused before anything changes it.
 * `after_crash`: the last run did not end orderly.
 */
export async function openStore(options: { data_dir: string; after_crash: boolean; clock?: Clock }): Promise<Store> {
  const { data_dir, clock = systemClock } = options
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  const path = join(data_dir, 'homeport.db')
  const bytes = existsSync(path) ? statSync(path).size : 0
  const check = bytes > 0 && (options.after_crash || bytes <= alwaysChecked_bytes)

  let recovered: Recovery | undefined
  let db = await openIntact({ path, clock }, check, bytes === 0 && hasCopies(data_dir))
  if (db instanceof DamagedLedger) {
    recovered = recoverLedger({ data_dir, newest_version: migrations.length, why: db.why, now: isoTime(clock.now()) })
    if (!recovered) throw db
    db = await openIntact({ path, clock }, true, false)
    if (db instanceof DamagedLedger) throw db
  }
  await migrate(db, migrations, join(data_dir, 'backups'))
  if (recovered) {
    const value = JSON.stringify(recovered)
    await db.write((tx) =>
      tx.sqlRun("INSERT INTO settings (key, value) VALUES ('recovered', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", value),
    )
  }

  const logs = await openLesser<LogTables>({ path: join(data_dir, 'logs.db'), clock }, logMigrations)
  const metrics = await openLesser<MetricsTables>({ path: join(data_dir, 'metrics.db'), clock }, metricsMigrations)
  const ledger = db

  return {
    db: ledger,
    logs: createLogStore(logs),
    metrics: createMetricsStore(metrics),
    recovered,
    async close() {
      await ledger.close()
      await logs.close()
      await metrics.close()
    },
  }
}

/** The ledger cannot be trusted. Nothing of it was changed. */
class DamagedLedger extends Error {
  readonly why: string
  constructor(path: string, cause?: unknown) {
    const why = cause === undefined ? 'gone or empty' : 'damaged'
    super(
      `The database ${path} is ${why}, and no copy in the backups folder beside it is good. Nothing was changed. Restore a backup into a new folder: homeport restore FILE --data NEW`,
      { cause },
    )
    this.name = 'DamagedLedger'
    this.why = why
  }
}

async function openIntact({ path, clock }: Place, check: boolean, isMissing: boolean): Promise<Db | DamagedLedger> {
  if (isMissing) return new DamagedLedger(path)
  let db: Db | undefined
  try {
    db = openDatabase<Tables>({ path, clock, durable: true })
    const verdict = check ? db.raw.pragma('quick_check(1)', { simple: true }) : 'ok'
    if (verdict === 'ok') return db
    throw new Error(String(verdict))
  } catch (cause) {
    await db?.close()
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (db === undefined && !/CORRUPT|NOTADB/.test(code)) throw cause
    return new DamagedLedger(path, cause)
  }
}

class DamagedLesser extends Error {}

/** Lines and numbers of the past are no reason not to start: a damaged file is put aside, and it begins anew. */
async function openLesser<T>({ path, clock }: Place, steps: readonly { name: string; sql: string }[]): Promise<Database<T>> {
  let db: Database<T> | undefined
  try {
    const check = existsSync(path) && statSync(path).size <= alwaysChecked_bytes
    db = openDatabase<T>({ path, clock, durable: false })
    if (check && db.raw.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new DamagedLesser()
    await migrate(db, steps)
    return db
  } catch (error) {
    await db?.close()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!(error instanceof DamagedLesser || /CORRUPT|NOTADB/.test(code)) || !existsSync(path)) throw error
    for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) renameSync(path + end, `${path}.damaged${end}`)
    return openLesser({ path, clock }, steps)
  }
}
