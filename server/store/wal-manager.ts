import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/clock.ts'

/**
 * What would block the event loop in SQLite is the disk: the sync of a commit, and the checkpoint that moves the write-ahead
 * log into the file. Both happen off the main thread here. A commit is promised once its part of the log was synced; commits
 * that come while a sync is under way share the next one.
 */
export interface WalManager {
  /** Resolves once everything that was committed by now would survive a power cut. */
  sync(): Promise<void>
  close(): Promise<void>
}

const checkpointInterval_ms = 2_000
/** A log of this size is moved into the file; it then starts again at its beginning. */
const checkpointThreshold_bytes = 4 * 1024 * 1024

export function createWalManager(path: string, clock: Clock): WalManager {
  const walPath = `${path}-wal`
  let file: FileHandle | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let checkpoint: Promise<void> | undefined
  let isClosed = false

  const flush = async (): Promise<void> => {
    file ??= await open(walPath, constants.O_RDWR)
    await file.datasync()
  }

  const sync = (): Promise<void> => {
    if (!running) {
      running = flush().finally(() => (running = undefined))
      return running
    }
    // What runs may have begun before this commit was written.
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        return sync()
      })
    return next
  }

  const checkpointTimer = clock.setInterval(() => {
    if (checkpoint || isClosed) return
    checkpoint = stat(walPath)
      .then(({ size }) => (size > checkpointThreshold_bytes && !isClosed ? runCheckpoint(path) : undefined))
      .catch(() => {})
      .finally(() => (checkpoint = undefined))
  }, checkpointInterval_ms)
  checkpointTimer.unref()

  return {
    sync,
    async close() {
      isClosed = true
      checkpointTimer.cancel()
      await Promise.allSettled([running, next, checkpoint])
      await file?.close()
      file = undefined
    },
  }
}

/**
 * A checkpoint in a thread of its own, which ends with it. The code is given as text because a bundle has no file for it; it
 * uses the very library that the main thread has loaded, as two would break each other's locks. The first pass, beside the
 * writers, does nearly all of it; the second one holds them for the moment that the rest takes, so that the log can start anew.
 */
function runCheckpoint(path: string): Promise<void> {
  const code = `
    const { workerData } = require('node:worker_threads')
    const Sqlite = require(workerData.library)
    const db = new Sqlite(workerData.path, { timeout: 1000 })
    db.pragma('synchronous = NORMAL')
    db.pragma('wal_checkpoint(PASSIVE)')
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()`
  return new Promise((resolve, reject) => {
    const library = createRequire(import.meta.url).resolve('better-sqlite3')
    const worker = new Worker(code, { eval: true, workerData: { path, library }, resourceLimits: { maxOldGenerationSizeMb: 32 } })
    worker.once('error', reject)
    worker.once('exit', () => resolve())
  })
}
