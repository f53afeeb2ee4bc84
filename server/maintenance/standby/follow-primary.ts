import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { replicatedFolders, type ReplicatedPart, replicatedPart } from '../../contract/standbys.ts'
import { type Clock, isoTime, sleep } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { standbyFile } from '../../lib/standby-files.ts'
import { checkpointReplica, prepareReplica, readDatabaseCopy } from '../../store/database-copy.ts'
import { migrations } from '../../store/migrations/index.ts'
import type { WalPosition } from '../../store/wal-stream.ts'
import { mainDatabaseFile, trailerSchema } from '../backup/backup-format.ts'
import { unpackBackup } from '../restore/unpack-backup.ts'

/** The instance that a standby follows. */
export interface Primary {
  readChanges(position: WalPosition | undefined): Promise<{ changes: Uint8Array | null; next: WalPosition; is_end: boolean; instance_id: string }>
  copyDatabase(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  listParts(): Promise<ReplicatedPart[]>
  copyPart(part: ReplicatedPart, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

/** What a standby knows of itself, in its data folder. */
export interface StandbyState {
  /** The URL of the instance that it follows. */
  of: string
  instance_id: string | null
  /** When it last had everything. Null: it has no copy yet. */
  synced_at: string | null
  /** Versions of the parts that it has, by folder and name. */
  parts: Record<string, string>
}

/** How often a standby asks for changes: with the time of one request, what is lost when the instance is. */
const pollInterval_ms = 500
const partsInterval_ms = 5_000
const retryInterval_ms = 1_000

/** The state of a data folder that belongs to a standby; undefined for any other. */
async function readStandbyState(data_dir: string): Promise<StandbyState | undefined> {
  const text = await readFile(join(data_dir, standbyFile), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as StandbyState)
}

/** The state of a folder that follows an instance. Throws for the folder of an instance. */
export async function openStandbyState(data_dir: string, url: string): Promise<StandbyState> {
  const state = await readStandbyState(data_dir)
  if (await hasInstance(data_dir))
    throw new StandbyError(`${data_dir} has the data of an instance, which a standby would replace. Choose an empty folder with --data.`)
  return { of: url, instance_id: state?.instance_id ?? null, synced_at: state?.synced_at ?? null, parts: state?.parts ?? {} }
}

/** Whether a folder has an instance, which a standby would replace. */
export const hasInstance = async (data_dir: string): Promise<boolean> =>
  existsSync(join(data_dir, mainDatabaseFile)) && !(await readStandbyState(data_dir))

/** Throws if a folder belongs to a standby, because its data are those of the instance that it follows. */
export async function assertNoStandby(data_dir: string): Promise<void> {
  const state = await readStandbyState(data_dir)
  if (state)
    throw new StandbyError(
      `${data_dir} is the folder of a standby of ${state.of}. Start it with homeport standby --of ${state.of}; homeport standby promote makes it lead.`,
    )
}

/** Makes the folder of a standby that of an instance. */
export const removeStandbyState = (data_dir: string): Promise<void> => rm(join(data_dir, standbyFile), { force: true })

/**
 * Keeps a copy of an instance in `data_dir` until the signal is aborted. Every state of the folder can be opened as an instance: a new copy replaces the old
 * one once it is in step, and SQLite ignores the end of a log that is incomplete.
 */
export async function followPrimary(options: {
  primary: Primary
  /** Kept up to date. */
  state: StandbyState
  data_dir: string
  clock: Clock
  log: Log
  signal: AbortSignal
  /** Checks a new copy before it replaces the old one. */
  checkCopy(path: string): Promise<void>
  /** Called when the copy has everything, and when it lost the instance. */
  onChange?(status: 'synced' | 'unreachable', error?: unknown): void
}): Promise<void> {
  const { primary, state, data_dir, clock, log, signal, checkCopy, onChange } = options
  const url = state.of
  const database = join(data_dir, mainDatabaseFile)
  const draft = `${database}.new`
  /** Where changes go: until a new copy has those that were made during the copy, it is no state of the instance. */
  let target = database
  let position: WalPosition | undefined
  let isFailing = false
  let isSynced = false
  let partsAt = -Infinity
  let copying: Promise<void> | undefined
  let saving: Promise<void> = Promise.resolve()
  let savedAt = -Infinity

  const writeState = async (): Promise<void> => {
    savedAt = clock.monotonic()
    await writeFile(join(data_dir, `${standbyFile}.new`), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
    await rename(join(data_dir, `${standbyFile}.new`), join(data_dir, standbyFile))
  }
  const saveState = (): Promise<void> => (saving = saving.catch(() => {}).then(writeState))

  /** A new copy of the database, beside the old one. */
  const start = async (at: WalPosition): Promise<void> => {
    for (const suffix of ['', '-wal', '-shm']) await rm(draft + suffix, { force: true })
    await pipeline(Readable.from(await primary.copyDatabase(signal), { objectMode: false }), createWriteStream(draft, { mode: 0o600 }), { signal })
    if (readDatabaseCopy(draft, ({ schemaVersion }) => schemaVersion) > migrations.length)
      throw new StandbyError(`${url} is a newer Homeport than this one, which could not lead in its place. Update Homeport on this machine.`)
    await checkCopy(draft)
    prepareReplica(draft)
    target = draft
    position = at
    isSynced = false
  }

  /** Replaces the old copy. After each of these steps the file and its log are a state that the instance had. */
  const install = async (): Promise<void> => {
    // Marks the folder as that of a standby.
    await saveState()
    for (const suffix of ['-wal', '-shm']) await rm(database + suffix, { force: true })
    await rename(draft, database)
    if (existsSync(`${draft}-wal`)) await rename(`${draft}-wal`, `${database}-wal`)
    target = database
  }

  const append = async (changes: Uint8Array, at: WalPosition): Promise<void> => {
    const file = await open(`${target}-wal`, existsSync(`${target}-wal`) ? 'r+' : 'w', 0o600)
    await file.write(changes, 0, changes.length, at.offset).finally(() => file.close())
  }

  /** Reads once; whether there is more. */
  const step = async (): Promise<boolean> => {
    const { changes, next, is_end, instance_id } = await primary.readChanges(position)
    if (state.instance_id !== null && state.instance_id !== instance_id)
      throw new StandbyError(`${url} is another instance than the one that this folder follows. Choose another folder with --data.`)
    state.instance_id = instance_id
    if (position === undefined || changes === null) {
      await start(next)
      return true
    }
    if (changes.length > 0) await append(changes, position)
    if (next.generation !== position.generation) checkpointReplica(target)
    position = next
    if (is_end && target === draft) await install()
    if (is_end) state.synced_at = isoTime(clock.now())
    if (is_end && (!isSynced || clock.monotonic() - savedAt > partsInterval_ms)) await saveState()
    if (is_end && !isSynced) {
      isSynced = true
      isFailing = false
      log.info('standby_synced', { of: url })
      onChange?.('synced')
    }
    return !is_end
  }

  /** Takes as long as the files need, while the changes of the database are followed. */
  const copyParts = async (): Promise<void> => {
    // They become paths here.
    const parts = replicatedPart.array().parse(await primary.listParts())
    const wanted = new Map(parts.map((part) => [`${part.folder}/${part.part}`, part]))
    for (const [key, part] of wanted) {
      if (state.parts[key] === part.version) continue
      try {
        await copyPart(part)
        state.parts[key] = part.version
        await saveState()
      } catch (error) {
        if (signal.aborted) return
        log.warn('standby_part_not_copied', { of: url, part: key, error })
      }
    }
    for (const folder of replicatedFolders)
      for (const name of await readdir(join(data_dir, folder)).catch(() => [])) {
        const key = `${folder}/${name}`
        if (wanted.has(key)) continue
        await rm(join(data_dir, folder, name), { recursive: true, force: true })
        delete state.parts[key]
      }
  }

  const copyPart = async (part: ReplicatedPart): Promise<void> => {
    const staging = join(data_dir, 'replication', 'staging')
    const file = join(data_dir, 'replication', 'part.tar.gz')
    await rm(staging, { recursive: true, force: true })
    await mkdir(staging, { recursive: true, mode: 0o700 })
    await pipeline(Readable.from(await primary.copyPart(part, signal), { objectMode: false }), createWriteStream(file, { mode: 0o600 }), { signal })
    const unpacked = await unpackBackup({ file, into: staging, signal, onManifest() {}, onFile() {} })
    const trailer = trailerSchema.pick({ entries: true, digest: true }).parse(JSON.parse(unpacked.end))
    if (trailer.digest !== unpacked.digest || trailer.entries !== unpacked.entries) throw new Error(`${part.folder}/${part.part} arrived damaged.`)
    const target = join(data_dir, part.folder, part.part)
    await mkdir(join(data_dir, part.folder), { recursive: true, mode: 0o700 })
    await rm(target, { recursive: true, force: true })
    await rename(join(staging, part.folder, part.part), target)
    await rm(file, { force: true })
  }

  while (!signal.aborted) {
    try {
      const hasMore = await step()
      if (hasMore) continue
      if (clock.monotonic() - partsAt > partsInterval_ms)
        copying ??= copyParts()
          .catch((error: unknown) => void (signal.aborted || log.warn('standby_parts_not_copied', { of: url, error })))
          .finally(() => {
            partsAt = clock.monotonic()
            copying = undefined
          })
      await sleep(clock, pollInterval_ms, signal)
    } catch (error) {
      if (signal.aborted) break
      if (error instanceof StandbyError) throw error
      if (!isFailing) {
        log.warn('standby_not_following', { of: url, error })
        onChange?.('unreachable', error)
      }
      isFailing = true
      isSynced = false
      await sleep(clock, retryInterval_ms, signal).catch(() => {})
    }
  }
  await copying
  await rm(join(data_dir, 'replication'), { recursive: true, force: true })
}

/** It cannot follow at all; the message is for the user. */
export class StandbyError extends Error {}
