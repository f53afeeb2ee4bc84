import { randomBytes } from 'node:crypto'
import { lstat, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Problem } from '../../contract/errors.ts'
import type { DoctorCheck } from '../../contract/instance.ts'
import type { Backup } from '../../contract/maintenance.ts'
import { isoTime, withTimeout } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { openFileStream } from '../../lib/open-file-stream.ts'
import { copyDatabaseFile } from '../../store/database-copy.ts'
import { isDiskFull } from '../../store/sqlite.ts'
import type { Db } from '../../store/store.ts'
import { type DatabaseRecovery, describeRecovery } from '../../store/recovery.ts'
import { type BackupOptions, writeBackup } from './write-backup.ts'
import { listNames } from './backup-entries.ts'
import { mainDatabaseFile } from './backup-format.ts'
import { jobInterval_ms } from '../periodic-jobs.ts'
import { readSetting } from '../../store/settings.ts'

/** The content of `backups/` in a data folder: full backups until the user deletes them, and the last seven hourly copies of the main database. */
export interface Backups {
  list(): Promise<Backup[]>
  /** Runs one backup at a time; concurrent callers get the running one. */
  create(): Promise<{ backup: Backup; left_out: string[] }>
  /** A backup as one gzip file; throws `backup_not_found`. */
  read(name: string): Promise<AsyncIterable<Uint8Array>>
  remove(name: string): Promise<void>
  /** The recovery during startup, as long as the user must be informed. */
  readRecovery(): Promise<(Pick<DatabaseRecovery, 'at' | 'copied_at' | 'damaged_file'> & { message: string }) | null>
  checks(): Promise<DoctorCheck[]>
  /** Creates a safe copy of the main database, unless the last one is newer than an hour. */
  createHourlyCopy(): Promise<void>
  /** Aborts the running backup and waits for its end. */
  close(): Promise<void>
}

export const maxHourlyCopies = 7
/** How long a recovery is reported when there is no damaged file to remove. */
const recoveryNotice_ms = 7 * 24 * jobInterval_ms

/** A copy of a database cannot be aborted: shutdown waits this long, and the next start removes the draft. */
const closeTimeout_ms = 3_000

/** Only files with these names are backups; a requested name is only used if it matches an existing file. */
const kindsByPattern: [RegExp, Backup['kind']][] = [
  [/^homeport-\d{4}-\d\d-\d\dT[\d-]+Z(?:-[0-9a-f]{4})?\.tar\.gz$/, 'full'],
  [/^hourly-\d{4}-\d\d-\d\dT[\d-]+Z\.db$/, 'hourly'],
  [/^before-version-\d+\.db$/, 'before_migration'],
]
/** Unfinished files. No backup kind matches the prefix, and the next start removes them. */
const draftPrefix = '.draft-'

export async function createBackups(options: BackupOptions & { db: Db; log: Log }): Promise<Backups> {
  const { data_dir, db, clock, log } = options
  const folder = join(data_dir, 'backups')
  const closing = new AbortController()
  let creating: Promise<{ backup: Backup; left_out: string[] }> | undefined
  let copying: Promise<void> | undefined
  /** Why the last copy of either kind failed. */
  let failure: { at: string; message: string } | undefined
  for (const name of await listNames(folder)) if (name.startsWith(draftPrefix)) await rm(join(folder, name), { recursive: true, force: true })

  const list = async (): Promise<Backup[]> => {
    const backups: Backup[] = []
    for (const name of await listNames(folder)) {
      const kind = kindsByPattern.find(([pattern]) => pattern.test(name))?.[1]
      const info = kind && (await lstat(join(folder, name)).catch(() => undefined))
      if (kind && info?.isFile())
        backups.push({ name, kind, bytes: info.size, path: join(folder, name), created_at: parseStamp(name) ?? isoTime(info.mtimeMs) })
    }
    return backups.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  }

  const find = async (name: string): Promise<Backup> => {
    const backup = (await list()).find((one) => one.name === name)
    if (!backup) throw backupNotFound()
    return backup
  }

  /** `work` writes under a temporary name, so that a file with the final name is complete. */
  const writeWholeFile = async <R>(name: string, work: (file: string, staging: string) => Promise<R>): Promise<R> => {
    const staging = join(folder, `${draftPrefix}${randomBytes(6).toString('hex')}`)
    try {
      await mkdir(staging, { recursive: true, mode: 0o700 })
      const result = await work(join(staging, name), staging)
      await rename(join(staging, name), join(folder, name))
      failure = undefined
      return result
    } catch (error) {
      if (!closing.signal.aborted)
        failure = {
          at: isoTime(clock.now()),
          message: isDiskFull(error) ? 'The disk of this machine is full.' : error instanceof Error ? error.message : String(error),
        }
      if (isDiskFull(error))
        throw new Problem('storage_full', 'The disk of this machine is full, so no backup was created. Free up space and try again.', {
          cause: error,
        })
      throw error
    } finally {
      await rm(staging, { recursive: true, force: true, maxRetries: 3 })
    }
  }

  const create = async () => {
    const startedAt = clock.monotonic()
    const stamp = formatStamp(clock.now())
    const existingNames = new Set(await listNames(folder))
    const name = existingNames.has(`homeport-${stamp}.tar.gz`)
      ? `homeport-${stamp}-${randomBytes(2).toString('hex')}.tar.gz`
      : `homeport-${stamp}.tar.gz`
    const left_out = await writeWholeFile(name, (file, staging) => writeBackup(options, file, staging, closing.signal))
    const backup = await find(name)
    log.info('backup_written', { backup: name, bytes: backup.bytes, ms: Math.round(clock.monotonic() - startedAt), left_out: left_out.length })
    return { backup, left_out }
  }

  const createHourlyCopy = async (): Promise<void> => {
    const hourly = (await list()).filter((one) => one.kind === 'hourly')
    const [latest] = hourly
    const age = latest === undefined ? Infinity : clock.now() - Date.parse(latest.created_at)
    if (age >= 0 && age < jobInterval_ms) return
    await writeWholeFile(`hourly-${formatStamp(clock.now())}.db`, (file) => copyDatabaseFile(join(data_dir, mainDatabaseFile), file))
    for (const expired of hourly.slice(maxHourlyCopies - 1)) await rm(expired.path, { force: true })
  }

  const readRecovery: Backups['readRecovery'] = async () => {
    const value = await db.read((tx) => readSetting<DatabaseRecovery>(tx, 'recovered'))
    if (value === undefined) return null
    const { at, copied_at, damaged_file } = value
    const isShown =
      damaged_file === null ? clock.now() - Date.parse(at) < recoveryNotice_ms : await fileExists(join(data_dir, basename(damaged_file)))
    return isShown ? { at, copied_at, damaged_file, message: describeRecovery(value) } : null
  }

  return {
    list,
    readRecovery,
    async checks() {
      if (failure)
        return [
          {
            name: 'backups',
            status: 'failed',
            message: `The backup started at ${failure.at} failed: ${failure.message}`,
            hint: 'Fix the cause, then create a backup with homeport backup. Hourly copies continue automatically.',
          },
        ]
      const [latest] = (await list()).filter((one) => one.kind !== 'before_migration')
      const recovery = await readRecovery()
      const message = recovery?.message ?? (latest ? `Last copy: ${latest.created_at}.` : 'No copy yet. The first one is created soon after startup.')
      const hint = `Check which changes are missing${recovery?.damaged_file ? `, then remove ${join(data_dir, recovery.damaged_file)}` : ''}.`
      return [{ name: 'backups', status: recovery ? 'warning' : 'ok', message, hint: recovery ? hint : null }]
    },
    create: () => (creating ??= create().finally(() => (creating = undefined))),
    async read(name) {
      const { path } = await find(name)
      const bytes = await openFileStream(path, 256 * 1024)
      if (!bytes) throw backupNotFound()
      if (path.endsWith('.gz')) return bytes
      // An error while reading the file ends the stream with the same error.
      return pipeline(bytes, createGzip(), () => {})
    },
    async remove(name) {
      await rm((await find(name)).path, { force: true, maxRetries: 3 })
    },
    createHourlyCopy: () => (copying ??= createHourlyCopy().finally(() => (copying = undefined))),
    async close() {
      closing.abort()
      await withTimeout(clock, closeTimeout_ms, Promise.allSettled([creating, copying]))
    },
  }
}

const backupNotFound = () => new Problem('backup_not_found', 'This backup does not exist. List the backups with homeport backups.')

/** A time in a format that is valid in file names on all systems. */
const formatStamp = (ms: number): string => `${isoTime(ms).slice(0, 19).replaceAll(':', '-')}Z`

const fileExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

function parseStamp(name: string): string | undefined {
  const [, day, hour, minute, second] = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z/.exec(name) ?? []
  return day && `${day}T${hour}:${minute}:${second}.000Z`
}
