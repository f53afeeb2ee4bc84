import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/clock.ts'

/**
 * Moves SQLite's blocking disk work off the main thread: the sync of a commit, and the checkpoint that copies the write-ahead log into the database
 * file. A commit is acknowledged once its part of the log is synced. Commits that arrive during a sync share the next one.
 */
export interface WalManager {
  /** Resolves once everything committed so far would survive a power failure. */
  sync(): Promise<void>
  /** Runs `checkpoint` in the main thread instead, when one is due, until the returned function is called. */
  takeOverCheckpoints(checkpoint: () => void): Promise<() => void>
  close(): Promise<void>
}

const checkpointInterval_ms = 2_000
/** A write-ahead log of this size is checkpointed and starts again at its beginning. */
const checkpointThreshold_bytes = 4 * 1024 * 1024
/** In the main thread a checkpoint should be short. */
const ownedCheckpointThreshold_bytes = 1024 * 1024

export function createWalManager(path: string, clock: Clock): WalManager {
  const walPath = `${path}-wal`
  let file: FileHandle | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let checkpoint: Promise<void> | undefined
  let ownCheckpoint: (() => void) | undefined
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
    // The active sync may have started before this commit was written.
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
      .then(({ size }) => {
        if (isClosed || size <= (ownCheckpoint ? ownedCheckpointThreshold_bytes : checkpointThreshold_bytes)) return undefined
        return ownCheckpoint ? ownCheckpoint() : runCheckpoint(path)
      })
      .catch(() => {})
      .finally(() => (checkpoint = undefined))
  }, checkpointInterval_ms)
  checkpointTimer.unref()

  return {
    sync,
    async takeOverCheckpoints(run) {
      ownCheckpoint = run
      await checkpoint
      return () => {
        if (ownCheckpoint === run) ownCheckpoint = undefined
      }
    },
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
 * Runs a checkpoint in its own thread. The code is a string because a bundle has no separate file for it, and it loads the same library file as
 * the main thread, because two copies would break each other's locks. The passive first pass runs concurrently with writers and does nearly all of
 * the work; the second pass blocks them briefly, so that the log can restart at its beginning.
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
