import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { createPrivateFile } from './private-file.ts'

/**
 * The lock of a data folder: an exclusive lock of the operating system on the file `instance.lock`, taken through SQLite
 * because Node has none of its own. It goes with the process, however that ends, so it is never stale. The lock file
 * holds no data, and the databases are not touched by who does not get it. undefined: somebody else has it.
 * Of two who ask in the very same moment each finds the other on its way: they look again for a moment, and one gets it.
 * Keep what is returned: the lock goes when it is collected.
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
