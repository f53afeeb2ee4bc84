import { copyFileSync, existsSync, openSync, closeSync, fsyncSync, readdirSync, renameSync, rmSync, statSync, chmodSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readDatabaseCopy } from './database-copy.ts'

/** The ledger was damaged or gone at the start, and a copy took its place. What came after the copy is not in it. */
export interface DatabaseRecovery {
  at: string
  /** `damaged`, or `gone or empty`. */
  why: string
  /** When the copy was made. */
  copied_at: string
  copy: string
  /** The name under which the damaged file lies in the data folder; null when there was none. */
  damaged_file: string | null
}

export function describeRecovery({ why, copied_at, damaged_file }: DatabaseRecovery): string {
  const damagedFileNote = damaged_file === null ? '' : ` The damaged file lies beside it as ${damaged_file}.`
  return `The database was ${why}, so the safe copy of ${copied_at} took its place: what was changed after that is missing.${damagedFileNote}`
}

/** A copy's own time stands in its name, else it is that of the file. */
const timestampPattern = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z/

/** Whether there are copies at all: an empty ledger beside them was not meant. */
export const hasDatabaseCopies = (dataDir: string): boolean => listDatabaseCopies(dataDir).length > 0

/**
 * Puts the newest good copy in the place of the ledger, and the damaged one aside. undefined when no copy is good; then
 * nothing was changed. Cut off at any moment, the next start finds a damaged ledger, or none, and does it again.
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
    // The log first: beside the copy it would be taken for the copy's own.
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
      const [verdict] = all<{ quick_check: string }>('PRAGMA quick_check(1)')
      return verdict?.quick_check === 'ok' && version > 0 && version <= newestVersion
    })
  } catch {
    return false
  }
}
