import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/**
 * Gives the free pages of a database file back to the disk, in a thread of its own: it writes the whole file anew, for which the
 * disk needs room, and holds its writers meanwhile. Where that cannot be done now the file stays as it is.
 */
export function vacuumDatabase(path: string): Promise<void> {
  const code = `
    const { workerData } = require('node:worker_threads')
    const Sqlite = require(workerData.library)
    const db = new Sqlite(workerData.path, { timeout: 2000 })
    try {
      db.exec('VACUUM')
      db.pragma('wal_checkpoint(TRUNCATE)')
    } catch (error) {
      if (!/^SQLITE_(FULL|BUSY|IOERR)/.test(String(error.code))) throw error
    } finally {
      db.close()
    }`
  return new Promise((resolve, reject) => {
    // The very library that the main thread has loaded: two would break each other's locks.
    const library = createRequire(import.meta.url).resolve('better-sqlite3')
    const worker = new Worker(code, { eval: true, workerData: { path, library }, resourceLimits: { maxOldGenerationSizeMb: 32 } })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
