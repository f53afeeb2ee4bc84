import { copyFileSync, existsSync, openSync, closeSync, fsyncSync, readdirSync, renameSync, rmSync, statSync, chmodSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readDatabaseCopy } from './database-copy.ts'

/** The main database was damaged or missing at start and was replaced with a copy. Changes made after the copy are lost. */
export interface DatabaseRecovery {
  at: string
  /** `damaged`, or `gone or empty`. */
  why: string
  /** When the copy was created. */
  copied_at: string
  copy: string
  /** The name of the damaged file in the data folder; null if there was none. */
  damaged_file: string | null
}

export function describeRecovery({ why, copied_at, damaged_file }: DatabaseRecovery): string {
  const damagedFileNote = damaged_file === null ? '' : ` The damaged file was kept as ${damaged_file}.`
  return `The database was ${why}, so Homeport restored the copy of ${copied_at}. Changes made after that are lost.${damagedFileNote}`
}

/** The time in a copy's file name, which takes precedence over the file's modification time. */
const timestampPattern = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z/

/** Whether copies exist. If so, an empty main database is not a new instance. */
export const hasDatabaseCopies = (dataDir: string): boolean => listDatabaseCopies(dataDir).length > 0

/**
 * Replaces the main database with the newest intact copy and keeps the damaged file. Returns undefined, without changing anything, if no copy is
 * intact. If this is interrupted, the next start finds a damaged or missing database and repeats it.
 */
export function recoverDatabase(options: { data_dir: string; newest_version: number; why: string; now: string }): DatabaseRecovery | undefined {
  const { data_dir, newest_version, why, now } = options
  const path = join(data_dir, 'homeport.db')
  const temporaryPath = `${path}.recovering`
  for (const { file, copied_at } of listDatabaseCopies(data_dir)) {
    for (const suffix of sqliteFileSuffixes) rmSync(temporaryPath + suffix, { force: true })
    copyFileSync(file, temporaryPath)
    chmodSync(temporaryPath, 0o600)
    if (!isIntact(temporaryPath, newest_version)) continue
    const handle = openSync(temporaryPath, 'r+')
    fsyncSync(handle)
    closeSync(handle)
    const damagedPath = `${path}.damaged-${now.slice(0, 19).replaceAll(':', '-')}Z`
    const isPresent = existsSync(path)
    // The write-ahead log is moved first, because SQLite would apply it to the copy.
    for (const suffix of [...sqliteFileSuffixes].reverse()) if (existsSync(path + suffix)) renameSync(path + suffix, damagedPath + suffix)
    renameSync(temporaryPath, path)
    return { at: now, copied_at, copy: basename(file), damaged_file: isPresent ? basename(damagedPath) : null, why }
  }
  for (const suffix of sqliteFileSuffixes) rmSync(temporaryPath + suffix, { force: true })
  return undefined
}

const sqliteFileSuffixes = ['', '-wal', '-shm'] as const

function listDatabaseCopies(dataDir: string): { file: string; copied_at: string }[] {
  const folder = join(dataDir, 'backups')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /^(hourly-|before-version-).*\.db$/.test(name))
    .map((name) => {
      const [, day, hour, minute, second] = timestampPattern.exec(name) ?? []
      const file = join(folder, name)
      return { file, copied_at: day ? `${day}T${hour}:${minute}:${second}.000Z` : statSync(file).mtime.toISOString() }
    })
    .sort((a, b) => (a.copied_at < b.copied_at ? 1 : -1))
}

function isIntact(path: string, newestVersion: number): boolean {
  try {
    return readDatabaseCopy(path, ({ schemaVersion: version, all }) => {
      const [result] = all<{ quick_check: string }>('PRAGMA quick_check(1)')
      return result?.quick_check === 'ok' && version > 0 && version <= newestVersion
    })
  } catch {
    return false
  }
}
