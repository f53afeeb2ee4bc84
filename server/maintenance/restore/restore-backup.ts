import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createFileMasterKey } from '../../keys/file-key.ts'
import { type Clock, isoTime } from '../../lib/clock.ts'
import { findFileProblem, latestSchemaVersion, type StoreFile } from '../../store/file-integrity.ts'
import { lockDataFolder } from '../../store/data-folder-lock.ts'
import { createSealer, type Sealer } from '../../store/sealer.ts'
import {
  backupFormat,
  type BackupManifest,
  databasesFolder,
  trailerSchema,
  manifestSchema,
  keyCheckColumn,
  keyCheckText,
  mainDatabaseFile,
  restoredFile,
  restoringFolder,
  sealColumn,
  storeFiles,
  copiedFolders,
  volumesFolder,
} from '../backup/backup-format.ts'
import { RestoreError, unpackBackup } from './unpack-backup.ts'
import { adoptDatabase } from './adopt-database.ts'

export { RestoreError } from './unpack-backup.ts'

export interface RestoreOptions {
  file: string
  /** An empty folder, or a path that does not exist. */
  into: string
  /**
   * The file with the master key of the backed-up instance, plain or encrypted by a keychain, which only the desktop app can open. `lost`: the key
   * is not available, and all encrypted values are lost. undefined: not specified; the caller is asked for it.
   */
  key: { file: string; is_wrapped: boolean } | 'lost' | undefined
  /** The names of both key files in a data folder. */
  key_names: { open: string; sealed: string }
  clock: Clock
  signal: AbortSignal
}

export interface RestoreResult {
  created_at: string
  homeport: string
  /** The label of the backed-up instance's resources in Docker. */
  instance_id: string
  counts: BackupManifest['counts']
  left_out: string[]
  /** Unpacked size. */
  bytes: number
  lost: string[]
}

const storeKinds: Record<(typeof storeFiles)[number], StoreFile> = { 'homeport.db': 'main', 'logs.db': 'logs', 'metrics.db': 'metrics' }
const lockFile = 'instance.lock'

/**
 * Creates a data folder from a backup. The backup is unpacked and verified in a subfolder and moved at the end, so that an interrupted restore
 * leaves nothing that could start as an instance. Throws RestoreError.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { into } = options
  if (!existsSync(options.file)) throw new RestoreError(`The file ${options.file} does not exist.`)
  const isNew = !existsSync(into)
  await mkdir(into, { recursive: true, mode: 0o700 })
  await requireEmptyFolder(into)
  const lock = lockDataFolder(into)
  if (!lock) throw new RestoreError(`${into} is in use. Use an empty or new folder.`)
  const staging = join(into, restoringFolder)
  try {
    // Leftovers of an interrupted restore, which started in an empty folder, so all of these files belong to it.
    for (const name of await readdir(into)) if (name !== lockFile) await rm(join(into, name), { recursive: true, force: true })
    await mkdir(staging, { mode: 0o700 })
    const restored = await unpackAndVerify(staging, options)
    // The main database is moved last, because nothing starts without it.
    const names = (await readdir(staging)).sort((a, b) => Number(a === mainDatabaseFile) - Number(b === mainDatabaseFile))
    for (const name of names) await rename(join(staging, name), join(into, name))
    await rmdir(staging)
    await syncFolder(into)
    lock.release()
    return restored
  } catch (error) {
    for (const name of await readdir(into)) if (name !== lockFile) await rm(join(into, name), { recursive: true, force: true, maxRetries: 3 })
    lock.release()
    await rm(join(into, lockFile), { force: true })
    if (isNew) await rmdir(into).catch(() => {})
    throw error
  }
}

async function requireEmptyFolder(into: string): Promise<void> {
  const names = await readdir(into)
  const ours = new Set<string>([
    restoringFolder,
    lockFile,
    restoredFile,
    databasesFolder,
    volumesFolder,
    'master.key',
    'master.key.sealed',
    ...storeFiles,
    ...copiedFolders,
  ])
  const isCutOff = names.includes(restoringFolder) && names.every((name) => ours.has(name))
  if (names.length > 0 && !isCutOff) throw new RestoreError(`${into} is not empty. Use an empty or new folder. No files were changed.`)
}

async function unpackAndVerify(staging: string, options: RestoreOptions): Promise<RestoreResult> {
  const { file, into, clock, signal } = options
  const key = await readKey(options)
  let manifest: BackupManifest | undefined
  let total = 0
  const missing = new Map<string, BackupManifest['parts'][number]>()
  const {
    end,
    digest,
    entries,
    dropped: escapingLinks,
  } = await unpackBackup({
    file,
    into: staging,
    signal,
    onManifest(text) {
      manifest = parseManifest(text)
      if (options.key === undefined) throw new RestoreError(formatMissingKey(manifest))
      verifyKey(manifest, key)
      for (const part of manifest.parts) missing.set(part.name, part)
    },
    onFile(name, sha256, bytes) {
      total += bytes
      const part = missing.get(name)
      if (!part) return
      if (part.sha256 !== sha256 || part.bytes !== bytes) throw new RestoreError(`${name} in the backup is damaged: its checksum does not match.`)
      missing.delete(name)
    },
  })
  if (!manifest || missing.size > 0 || storeFiles.some((name) => !existsSync(join(staging, name))))
    throw new RestoreError('The backup is incomplete.')
  const trailer = trailerSchema.safeParse(parseJson(end))
  if (!trailer.success || trailer.data.digest !== digest || trailer.data.entries !== entries)
    throw new RestoreError('The backup is damaged: its checksum does not match.')
  if (key && tryUnseal(key, sealColumn(manifest.created_at), trailer.data.seal) !== digest)
    throw new RestoreError('The backup was modified after it was created: its signature does not match.')

  for (const name of storeFiles) {
    const defect = findFileProblem(join(staging, name), storeKinds[name])
    if (defect !== null) throw new RestoreError(`${name} in the backup ${defect}.`)
  }
  const isKeyLost = options.key === 'lost'
  const newSealer = isKeyLost ? createSealer(await createFileMasterKey(join(staging, options.key_names.open), { is_ours: true }).read()) : undefined
  const lost = await adoptDatabase(join(staging, mainDatabaseFile), {
    staging,
    into,
    is_foreign: manifest.platform !== process.platform || manifest.arch !== process.arch,
    new_sealer: newSealer,
  })
  if (typeof options.key === 'object') await copyKey(options.key, staging, options.key_names)
  await writeFile(
    join(staging, restoredFile),
    `${JSON.stringify({ from: basename(file), created_at: manifest.created_at, restored_at: isoTime(clock.now()) }, null, 2)}\n`,
    { mode: 0o600 },
  )
  signal.throwIfAborted()
  return {
    created_at: manifest.created_at,
    homeport: manifest.homeport,
    instance_id: manifest.instance_id,
    counts: manifest.counts,
    left_out: [...trailer.data.left_out, ...escapingLinks.map((name) => `${name}: a link that points outside of its folder.`)],
    bytes: total,
    lost,
  }
}

async function readKey({ key }: RestoreOptions): Promise<Sealer | undefined> {
  if (typeof key !== 'object') return undefined
  if (!existsSync(key.file)) throw new RestoreError(`The key file ${key.file} does not exist.`)
  return key.is_wrapped ? undefined : createSealer(await createFileMasterKey(key.file).read())
}

function parseManifest(text: string): BackupManifest {
  const value = parseJson(text)
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  if (typeof format === 'number' && format > backupFormat)
    throw new RestoreError('The backup was created by a newer version of Homeport. Update Homeport first.')
  const parsed = manifestSchema.safeParse(value)
  if (!parsed.success) throw new RestoreError('This file is not a Homeport backup.')
  if (parsed.data.schema_version > latestSchemaVersion('main'))
    throw new RestoreError(`The backup was created by a newer version of Homeport (${parsed.data.homeport}). Update Homeport first.`)
  return parsed.data
}

const formatMissingKey = ({ key }: BackupManifest): string =>
  `The master key is not in a backup. ${
    key.kind === 'file_key'
      ? 'It is the file master.key of the data folder that was backed up (or the one that HOMEPORT_MASTER_KEY_FILE named)'
      : 'It is the file master.key.sealed of the data folder that was backed up, which the keychain of that user on that machine opens'
  }. Provide it with --key FILE. If it is lost, --without-key restores everything except the secrets.`

function verifyKey(manifest: BackupManifest, key: Sealer | undefined): void {
  if (!key || tryUnseal(key, keyCheckColumn(manifest.created_at), manifest.key.check) === keyCheckText) return
  throw new RestoreError('This key does not match the backup. Use the key of the instance that created the backup.')
}

function tryUnseal(key: Sealer, column: Parameters<Sealer['unseal']>[0], sealed: string): string | undefined {
  try {
    return key.unseal(column, Buffer.from(sealed, 'base64'))
  } catch {
    return undefined
  }
}

async function copyKey(key: { file: string; is_wrapped: boolean }, staging: string, names: RestoreOptions['key_names']): Promise<void> {
  if (key.is_wrapped) return writeFile(join(staging, names.sealed), await readFile(key.file), { mode: 0o600, flag: 'wx' })
  const bytes = await createFileMasterKey(key.file).read()
  await writeFile(join(staging, names.open), `${Buffer.from(bytes).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  for (const path of [folder, dirname(folder)]) {
    const handle = await open(path, 'r')
    await handle.sync().catch(() => {})
    await handle.close()
  }
}
