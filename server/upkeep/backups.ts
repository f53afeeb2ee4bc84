import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Problem } from '../contract/errors.ts'
import type { Check } from '../contract/instance.ts'
import type { Backup } from '../contract/upkeep.ts'
import { isoTime, withTimeout } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { copyDatabase } from '../store/copy.ts'
import { isFull } from '../store/database.ts'
import type { Db } from '../store/open.ts'
import { type Recovery, tellRecovery } from '../store/recover.ts'
import { type BackupOptions, writeBackup } from './backup.ts'
import { namesIn } from './backup-entries.ts'
import { ledgerFile } from './backup-format.ts'
import { round_ms } from './rounds.ts'

/** What lies in `backups/` of a data folder: full backups until somebody deletes them, hourly copies of the ledger, seven of them. */
export interface Backups {
  list(): Promise<Backup[]>
  /** One at a time: who asks meanwhile gets the one that is under way. */
  create(): Promise<{ backup: Backup; left_out: string[] }>
  /** As one gzip file; throws `backup_not_found`. */
  read(name: string): Promise<AsyncIterable<Uint8Array>>
  remove(name: string): Promise<void>
  /** What a start put right, for as long as somebody has to know. */
  recovered(): Promise<(Pick<Recovery, 'at' | 'copied_at' | 'damaged_file'> & { message: string }) | null>
  checks(): Promise<Check[]>
  /** A safe copy of the ledger, unless the last one is younger than an hour. */
  copyHourly(): Promise<void>
  /** Gives up what is under way and waits for that. */
  close(): Promise<void>
}

export const keptHourly = 7
/** Without a damaged file to remove, a recovery is told for this long. */
const told_ms = 7 * 24 * round_ms

/** A copy of a database cannot be given up in the middle: an end of the platform waits this long, and the next start clears away. */
const patience_ms = 3_000

/** Copies of these names alone are ours; a name never reaches the disk unless it was found there. */
const kinds: [RegExp, Backup['kind']][] = [
  [/^homeport-\d{4}-\d\d-\d\dT[\d-]+Z(?:-[0-9a-f]{4})?\.tar\.gz$/, 'full'],
  [/^hourly-\d{4}-\d\d-\d\dT[\d-]+Z\.db$/, 'hourly'],
  [/^before-version-\d+\.db$/, 'before_migration'],
]
/** Unfinished. No kind has such a name, and a start removes them. */
const draft = '.draft-'

export async function createBackups(options: BackupOptions & { db: Db; log: Log }): Promise<Backups> {
  const { data_dir, db, clock, log } = options
  const folder = join(data_dir, 'backups')
  const ended = new AbortController()
  let creating: Promise<{ backup: Backup; left_out: string[] }> | undefined
  let copying: Promise<void> | undefined
  /** Why the last copy, of either kind, was not made. */
  let failure: { at: string; message: string } | undefined
  for (const name of await namesIn(folder)) if (name.startsWith(draft)) await rm(join(folder, name), { recursive: true, force: true })

  const list = async (): Promise<Backup[]> => {
    const found: Backup[] = []
    for (const name of await namesIn(folder)) {
      const kind = kinds.find(([pattern]) => pattern.test(name))?.[1]
      const info = kind && (await lstat(join(folder, name)).catch(() => undefined))
      if (kind && info?.isFile())
        found.push({ name, kind, bytes: info.size, path: join(folder, name), created_at: timeOf(name) ?? isoTime(info.mtimeMs) })
    }
    return found.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }

  const find = async (name: string): Promise<Backup> => {
    const found = (await list()).find((one) => one.name === name)
    if (!found) throw new Problem('backup_not_found', 'There is no such backup. The list says which there are.')
    return found
  }

  /** `make` writes the file of this name under another one first: what bears the name is whole. */
  const make = async <R>(name: string, work: (file: string, staging: string) => Promise<R>): Promise<R> => {
    const staging = join(folder, `${draft}${randomBytes(6).toString('hex')}`)
    try {
      await mkdir(staging, { recursive: true, mode: 0o700 })
      const result = await work(join(staging, name), staging)
      await rename(join(staging, name), join(folder, name))
      failure = undefined
      return result
    } catch (error) {
      if (!ended.signal.aborted)
        failure = {
          at: isoTime(clock.now()),
          message: isFull(error) ? 'The disk of this machine is full.' : error instanceof Error ? error.message : String(error),
        }
      if (isFull(error))
        throw new Problem('storage_full', 'The disk of this machine is full: nothing was kept. Free some space and try again.', { cause: error })
      throw error
    } finally {
      await rm(staging, { recursive: true, force: true, maxRetries: 3 })
    }
  }

  const create = async () => {
    const began = clock.monotonic()
    const stamp = stampOf(clock.now())
    const taken = new Set(await namesIn(folder))
    const name = taken.has(`homeport-${stamp}.tar.gz`) ? `homeport-${stamp}-${randomBytes(2).toString('hex')}.tar.gz` : `homeport-${stamp}.tar.gz`
    const left_out = await make(name, (file, staging) => writeBackup(options, file, staging, ended.signal))
    const backup = await find(name)
    log.info('backup_written', { backup: name, bytes: backup.bytes, ms: Math.round(clock.monotonic() - began), left_out: left_out.length })
    return { backup, left_out }
  }

  const copy = async (): Promise<void> => {
    const hourly = (await list()).filter((one) => one.kind === 'hourly')
    const [latest] = hourly
    const age = latest === undefined ? Infinity : clock.now() - Date.parse(latest.created_at)
    if (age >= 0 && age < round_ms) return
    await make(`hourly-${stampOf(clock.now())}.db`, (file) => copyDatabase(join(data_dir, ledgerFile), file))
    for (const old of hourly.slice(keptHourly - 1)) await rm(old.path, { force: true })
  }

  const recovered: Backups['recovered'] = async () => {
    const text = await db.read((tx) => tx.sqlFirst<{ value: string }>("SELECT value FROM settings WHERE key = 'recovered'")?.value)
    if (text === undefined) return null
    const value = JSON.parse(text) as Recovery
    const { at, copied_at, damaged_file } = value
    const isTold = damaged_file === null ? clock.now() - Date.parse(at) < told_ms : await isThere(join(data_dir, basename(damaged_file)))
    return isTold ? { at, copied_at, damaged_file, message: tellRecovery(value) } : null
  }

  return {
    list,
    recovered,
    async checks() {
      if (failure)
        return [
          {
            name: 'backups',
            status: 'failed',
            message: `A copy that was begun at ${failure.at} came to nothing: ${failure.message}`,
            mend: 'Fix that, then make a backup: homeport backup. The next hourly copy is tried by itself.',
          },
        ]
      const [latest] = (await list()).filter((one) => one.kind !== 'before_migration')
      const found = await recovered()
      const message =
        found?.message ?? (latest ? `The last copy is of ${latest.created_at}.` : 'No copy yet; the first is made soon after the start.')
      const mend = `Look at what is missing${found?.damaged_file ? `, then remove ${join(data_dir, found.damaged_file)}` : ''}.`
      return [{ name: 'backups', status: found ? 'warning' : 'ok', message, mend: found ? mend : null }]
    },
    create: () => (creating ??= create().finally(() => (creating = undefined))),
    async read(name) {
      const { path } = await find(name)
      const bytes = createReadStream(path, { highWaterMark: 256 * 1024 })
      if (path.endsWith('.gz')) return bytes
      // One that cannot be read to its end ends the other with its error.
      return pipeline(bytes, createGzip(), () => {})
    },
    async remove(name) {
      await rm((await find(name)).path, { force: true, maxRetries: 3 })
    },
    copyHourly: () => (copying ??= copy().finally(() => (copying = undefined))),
    async close() {
      ended.abort()
      await withTimeout(clock, patience_ms, Promise.allSettled([creating, copying]))
    },
  }
}

/** A time as it may stand in the name of a file on every system. */
const stampOf = (ms: number): string => `${isoTime(ms).slice(0, 19).replaceAll(':', '-')}Z`

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

function timeOf(name: string): string | undefined {
  const [, day, hour, minute, second] = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z/.exec(name) ?? []
  return day && `${day}T${hour}:${minute}:${second}.000Z`
}
