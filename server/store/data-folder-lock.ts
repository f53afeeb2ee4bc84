import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { createPrivateFile } from './private-file.ts'

/**
 * Locks a data folder with an exclusive operating-system lock on the file `instance.lock`, taken through SQLite because Node has no file locks. The
 * lock ends with the process in any case, so it is never stale. The lock file holds no data, and a process that does not get the lock does not open
 * the databases. Returns undefined if another process holds the lock. Two processes that ask at the same moment both retry briefly, and one gets it.
 * Keep a reference to the result, because the lock is released when it is garbage-collected.
 */
export function lockDataFolder(folder: string): { release(): void } | undefined {
  const path = join(folder, 'instance.lock')
  createPrivateFile(path)
  const file = new Sqlite(path, { timeout: 100 })
  try {
    file.pragma('journal_mode = MEMORY')
    file.exec('BEGIN EXCLUSIVE')
    return { release: () => file.close() }
  } catch {
    file.close()
    return undefined
  }
}
