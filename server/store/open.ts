import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, type Transaction, openDatabase } from './database.ts'
import { createLogStore, type LogStore } from './logs.ts'
import { createMetricsStore, type MetricsStore } from './metrics.ts'
import { migrate } from './migrate.ts'
import { logMigrations, metricsMigrations, migrations } from './migrations/index.ts'
import type { LogTables, MetricsTables, Tables } from './tables.ts'

export type Db = Database<Tables>
export type Tx = Transaction<Tables>

export interface Store {
  db: Db
  logs: LogStore
  metrics: MetricsStore
  close(): Promise<void>
}

/**
 * Opens the three files of a data folder. The caller holds the folder's lock.
 * `after_crash`: the last run did not end orderly, so the ledger is checked before anything trusts it.
 */
export async function openStore(options: { data_dir: string; after_crash: boolean }): Promise<Store> {
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 })
  const path = join(options.data_dir, 'homeport.db')
  const logPath = join(options.data_dir, 'logs.db')
  const check = options.after_crash && existsSync(path)

  const db = await openIntact(path, check)
  await migrate(db, migrations, join(options.data_dir, 'backups'))

  const logs = openDatabase<LogTables>({ path: logPath, durable: false })
  await migrate(logs, logMigrations)
  const metrics = await openMetrics(join(options.data_dir, 'metrics.db'))

  return {
    db,
    logs: createLogStore(logs),
    metrics: createMetricsStore(metrics),
    async close() {
      await db.close()
      await logs.close()
      await metrics.close()
    },
  }
}

/** Opens the ledger; a damaged one is refused before anything trusts or changes it. */
async function openIntact(path: string, check: boolean): Promise<Db> {
  let db: Db | undefined
  try {
    db = openDatabase<Tables>({ path, durable: true })
    const verdict = check ? db.raw.pragma('quick_check(1)', { simple: true }) : 'ok'
    if (verdict === 'ok') return db
    throw new Error(String(verdict))
  } catch (cause) {
    await db?.close()
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (db === undefined && !/CORRUPT|NOTADB/.test(code)) throw cause
    throw new Error(
      `The database ${path} is damaged. Nothing was changed. Move the file aside and put back a copy from the backups folder beside it.`,
      { cause },
    )
  }
}

/** Numbers of the past are no reason not to start: a damaged file is put aside, and counting begins anew. */
async function openMetrics(path: string): Promise<Database<MetricsTables>> {
  let db: Database<MetricsTables> | undefined
  try {
    db = openDatabase<MetricsTables>({ path, durable: false })
    await migrate(db, metricsMigrations)
    return db
  } catch (error) {
    await db?.close()
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/CORRUPT|NOTADB/.test(code) || !existsSync(path)) throw error
    for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) renameSync(path + end, `${path}.damaged${end}`)
    return openMetrics(path)
  }
}
