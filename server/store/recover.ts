import { copyFileSync, existsSync, openSync, closeSync, fsyncSync, readdirSync, renameSync, rmSync, statSync, chmodSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readCopy } from './copy.ts'

/** The ledger was damaged or gone at the start, and a copy took its place. What came after the copy is not in it. */
export interface Recovery {
  at: string
  /** `damaged`, or `gone or empty`. */
  why: string
  /** When the copy was made. */
  copied_at: string
  copy: string
  /** The name under which the damaged file lies in the data folder; null when there was none. */
  damaged_file: string | null
}

export function tellRecovery({ why, copied_at, damaged_file }: Recovery): string {
  const aside = damaged_file === null ? '' : ` The damaged file lies beside it as ${damaged_file}.`
  return `The database was ${why}, so the safe copy of ${copied_at} took its place: what was changed after that is missing.${aside}`
}

/** A copy's own time stands in its name, else it is that of the file. */
const stamp = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z/

/** Whether there are copies at all: an empty ledger beside them was not meant. */
export const hasCopies = (dataDir: string): boolean => copiesIn(dataDir).length > 0

/**
 * Puts the newest good copy in the place of the ledger, and the damaged one aside. undefined when no copy is good; then
 * nothing was changed. Cut off at any moment, the next start finds a damaged ledger, or none, and does it again.
 */
export function recoverLedger(options: { data_dir: string; newest_version: number; why: string; now: string }): Recovery | undefined {
  const { data_dir, newest_version, why, now } = options
  const path = join(data_dir, 'homeport.db')
  const draft = `${path}.recovering`
  for (const { file, copied_at } of copiesIn(data_dir)) {
    for (const end of sides) rmSync(draft + end, { force: true })
    copyFileSync(file, draft)
    chmodSync(draft, 0o600)
    if (!isGood(draft, newest_version)) continue
    const handle = openSync(draft, 'r+')
    fsyncSync(handle)
    closeSync(handle)
    const aside = `${path}.damaged-${now.slice(0, 19).replaceAll(':', '-')}Z`
    const isThere = existsSync(path)
    // The log first: beside the copy it would be taken for the copy's own.
    for (const end of [...sides].reverse()) if (existsSync(path + end)) renameSync(path + end, aside + end)
    renameSync(draft, path)
    return { at: now, copied_at, copy: basename(file), damaged_file: isThere ? basename(aside) : null, why }
  }
  for (const end of sides) rmSync(draft + end, { force: true })
  return undefined
}

const sides = ['', '-wal', '-shm'] as const

function copiesIn(dataDir: string): { file: string; copied_at: string }[] {
  const folder = join(dataDir, 'backups')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /^(hourly-|before-version-).*\.db$/.test(name))
    .map((name) => {
      const [, day, hour, minute, second] = stamp.exec(name) ?? []
      const file = join(folder, name)
      return { file, copied_at: day ? `${day}T${hour}:${minute}:${second}.000Z` : statSync(file).mtime.toISOString() }
    })
    .sort((a, b) => (a.copied_at < b.copied_at ? 1 : -1))
}

function isGood(path: string, newestVersion: number): boolean {
  try {
    return readCopy(path, ({ version, all }) => {
      const [verdict] = all<{ quick_check: string }>('PRAGMA quick_check(1)')
      return verdict?.quick_check === 'ok' && version > 0 && version <= newestVersion
    })
  } catch {
    return false
  }
}
