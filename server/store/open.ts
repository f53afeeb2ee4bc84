import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, type Transaction, openDatabase } from './database.ts'
import { createLogStore, type LogStore } from './logs.ts'
import { migrate } from './migrate.ts'
import { logMigrations, migrations } from './migrations/index.ts'
import type { LogTables, Tables } from './tables.ts'

export type Db = Database<Tables>
export type Tx = Transaction<Tables>

export interface Store {
  db: Db
  logs: LogStore
  close(): void
}

/**
 * Opens the two files of a data folder. The caller holds the folder's lock.
 * `after_crash`: the last run did not end orderly, so both files are checked before anything trusts them.
 */
export async function openStore(options: { data_dir: string; after_crash: boolean }): Promise<Store> {
  mkdirSync(options.data_dir, { recursive: true, mode: 0o700 })
  const path = join(options.data_dir, 'homeport.db')
  const logPath = join(options.data_dir, 'logs.db')
  const check = options.after_crash && existsSync(path)

  const db = openDatabase<Tables>({ path, synchronous: 'FULL' })
  if (check) assertIntact(db, path)
  await migrate(db, migrations, join(options.data_dir, 'backups'))

  const logs = openDatabase<LogTables>({ path: logPath, synchronous: 'NORMAL' })
  await migrate(logs, logMigrations)

  return {
    db,
    logs: createLogStore(logs),
    close: () => {
      db.close()
      logs.close()
    },
  }
}

function assertIntact<T>(db: Database<T>, path: string): void {
  const verdict = db.raw.pragma('quick_check(1)', { simple: true })
  if (verdict === 'ok') return
  db.close()
  throw new Error(`The database ${path} is damaged (${String(verdict)}). Nothing was changed. Move the file aside and put back a copy from the backups folder beside it.`)
}
