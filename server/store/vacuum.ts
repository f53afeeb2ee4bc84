import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

/**
 * Returns unused pages of a database file to the disk, in its own thread. VACUUM rewrites the whole file, which needs disk space and blocks writers
 * meanwhile. If it is not possible now, the file stays unchanged.
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
    // The same library file that the main thread has loaded, because two copies of it would break each other's locks.
    const library = createRequire(import.meta.url).resolve('better-sqlite3')
    const worker = new Worker(code, { eval: true, workerData: { path, library }, resourceLimits: { maxOldGenerationSizeMb: 32 } })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
