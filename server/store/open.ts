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
  close(): Promise<void>
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

  const db = await openIntact(path, check)
  await migrate(db, migrations, join(options.data_dir, 'backups'))

  const logs = openDatabase<LogTables>({ path: logPath, durable: false })
  await migrate(logs, logMigrations)

  return {
    db,
    logs: createLogStore(logs),
    async close() {
      await db.close()
      await logs.close()
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
