import Sqlite from 'better-sqlite3'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { Problem } from '../contract/errors.ts'
import { isDiskFull } from './sqlite.ts'
import { createPrivateFile } from './private-file.ts'

/**
 * Copies a database that is in use, as of one moment, and verifies the copy. Runs in its own thread with a single read transaction, so that writers
 * neither wait nor restart the copy. The copy is one file without a write-ahead log. Throws `storage_full`, or an error that describes the damage;
 * the caller removes the incomplete file.
 */
export async function copyDatabaseFile(from: string, to: string): Promise<void> {
  createPrivateFile(to)
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { closeSync, fsyncSync, openSync } = require('node:fs')
    const Sqlite = require(workerData.library)
    const run = async () => {
      const source = new Sqlite(workerData.from, { readonly: true, timeout: 5000 })
      await source.backup(workerData.to, { progress: () => 0x7fffffff }).finally(() => source.close())
      const copy = new Sqlite(workerData.to)
      try {
        copy.pragma('journal_mode = DELETE')
        const result = copy.pragma('quick_check(1)', { simple: true })
        if (result !== 'ok') throw Object.assign(new Error(String(result)), { code: 'SQLITE_CORRUPT' })
      } finally {
        copy.close()
      }
      const file = openSync(workerData.to, 'r+')
      fsyncSync(file)
      closeSync(file)
    }
    run().then(() => parentPort.postMessage(null), (error) => parentPort.postMessage({ code: String(error.code ?? ''), message: String(error.message) }))`
  // The same library file that the main thread has loaded, because two copies of it would break each other's locks.
  const library = createRequire(import.meta.url).resolve('better-sqlite3')
  const worker = new Worker(code, { eval: true, workerData: { from, to, library }, resourceLimits: { maxOldGenerationSizeMb: 32 } })
  const failure = await new Promise<{ code: string; message: string } | null>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The database copy thread exited unexpectedly.')))
  })
  if (failure === null) return
  const error = Object.assign(new Error(failure.message), { code: failure.code })
  if (isDiskFull(error)) throw new Problem('storage_full', 'The disk of this machine is full. Free some space and try again.', { cause: error })
  throw error
}

export interface DatabaseCopyReader {
  schemaVersion: number
  all<R>(sql: string, ...parameters: unknown[]): R[]
}

/** Reads a copy that is not written to. The file is not changed. */
export function readDatabaseCopy<R>(path: string, read: (copy: DatabaseCopyReader) => R): R {
  const raw = new Sqlite(path, { readonly: true })
  try {
    return read({
      schemaVersion: Number(raw.pragma('user_version', { simple: true })),
      all: <Row>(sql: string, ...parameters: unknown[]) => raw.prepare(sql).all(...parameters) as Row[],
    })
  } finally {
    raw.close()
  }
}

/** A value of the settings in a copy, as JSON. */
export const readCopiedSetting = (path: string, key: string): string | undefined =>
  readDatabaseCopy(path, ({ all }) => all<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)[0]?.value)

/** The content of a database, as a backup describes it. */
export function summarizeDatabaseCopy(path: string) {
  return readDatabaseCopy(path, ({ schemaVersion: schema_version, all }) => {
    const count = (table: string) => all<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? 0
    const projects = all<{ id: string }>('SELECT id FROM projects WHERE deleted_at IS NULL').map((row) => row.id)
    const deployments = all<{ id: string; artifact: string | null }>(
      'SELECT d.id, d.artifact FROM deployments d JOIN projects p ON p.id = d.project_id WHERE p.deleted_at IS NULL',
    )
    const counts = { projects: projects.length, deployments: count('deployments'), env_vars: count('env_vars'), databases: count('databases') }
    return { schema_version, counts, projects, deployments }
  })
}

/** A copy on another machine, with the write-ahead log of the instance next to it. */
const withReplica = <R>(path: string, work: (raw: Sqlite.Database) => R): R => {
  const raw = new Sqlite(path, { fileMustExist: true })
  try {
    return work(raw)
  } finally {
    raw.close()
  }
}

/** Makes a copied file one whose log SQLite reads. */
export const prepareReplica = (path: string): void => void withReplica(path, (raw) => raw.pragma('journal_mode = WAL'))

/** Moves the log into the file. It is durable then. */
export function checkpointReplica(path: string): void {
  withReplica(path, (raw) => {
    raw.pragma('synchronous = FULL')
    raw.pragma('wal_checkpoint(TRUNCATE)')
  })
}
