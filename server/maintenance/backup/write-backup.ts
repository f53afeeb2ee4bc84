import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { version } from '../../contract/index.ts'
import { type Clock, isoTime } from '../../lib/clock.ts'
import { copyDatabaseFile, summarizeDatabaseCopy } from '../../store/database-copy.ts'
import type { Sealer } from '../../store/sealer.ts'
import {
  type BackupTrailer,
  backupFormat,
  type BackupManifest,
  databasesFolder,
  manifestName,
  keyCheckColumn,
  keyCheckText,
  mainDatabaseFile,
  locateArtifact,
  sealColumn,
  storeFiles,
  volumesFolder,
} from './backup-format.ts'
import { createJsonEntry, digestEntries, fileEntry, folderEntries, listNames, syncToDisk } from './backup-entries.ts'
import { type TarEntry, writeTar } from './tar-writer.ts'

/** The source of dumps of live databases; `sql` throws when it is read and the database is unavailable. */
export interface DatabaseDumpSource {
  dumpAll(signal: AbortSignal): AsyncIterable<{ db_name: string; sql: AsyncIterable<Uint8Array> }>
}

/** The source of the files of volumes, each as of one moment. */
export interface VolumeSource {
  /** Writes `{runtime}/{volume}.tar` below a folder, and returns these names and a sentence for each volume that could not be read. */
  writeAll(folder: string, signal: AbortSignal): Promise<{ names: string[]; left_out: string[] }>
}

export interface BackupOptions {
  data_dir: string
  instance_id: string
  key_kind: 'keychain' | 'file_key'
  sealer: Sealer
  clock: Clock
  databases: DatabaseDumpSource | undefined
  volumes: VolumeSource | undefined
}

const maxListedChanges = 50

/**
 * Writes a backup of a running instance. The main database is copied first, and the files that it refers to are copied afterwards, so that the backup is
 * consistent. `staging` is an empty folder next to `file`. Returns what was left out, and why.
 */
export async function writeBackup(options: BackupOptions, file: string, staging: string, signal: AbortSignal): Promise<string[]> {
  const { data_dir, sealer, clock } = options
  const created_at = isoTime(clock.now())
  const left_out: string[] = []
  const changedFiles: string[] = []
  for (const name of storeFiles) {
    signal.throwIfAborted()
    await copyDatabaseFile(join(data_dir, name), join(staging, name))
  }
  const snapshot = summarizeDatabaseCopy(join(staging, mainDatabaseFile))
  const dumps = await dumpDatabases(options, join(staging, databasesFolder), left_out, signal)

  const volumes = await options.volumes?.writeAll(join(staging, volumesFolder), signal)
  left_out.push(...(volumes?.left_out ?? []))
  const archives = (volumes?.names ?? []).map((name) => `${volumesFolder}/${name}`)

  const parts: BackupManifest['parts'] = []
  for (const name of [...storeFiles, ...dumps, ...archives]) parts.push(await describePart(join(staging, name), name))
  const manifest: BackupManifest = {
    format: backupFormat,
    homeport: version,
    created_at,
    instance_id: options.instance_id,
    platform: process.platform,
    arch: process.arch,
    key: { kind: options.key_kind, check: toBase64(sealer.seal(keyCheckColumn(created_at), keyCheckText)) },
    schema_version: snapshot.schema_version,
    counts: snapshot.counts,
    parts,
  }

  const images = snapshot.deployments.filter((row) => row.artifact !== null && locateArtifact(row.artifact) === null).length
  if (images > 0) left_out.push(`The Docker images of ${images} deployments. After a restore, current deployments are built again from source.`)
  const note = (what: string) => {
    if (changedFiles.push(what) <= maxListedChanges) left_out.push(what)
  }
  const bundles = new Set(snapshot.deployments.flatMap((row) => (row.artifact === null ? [] : (locateArtifact(row.artifact)?.id ?? []))))
  const folders = [
    ...snapshot.projects.map((id) => ['archives', id]),
    ...snapshot.deployments.map((row) => ['sources', row.id]),
    ...[...bundles].map((id) => ['bundles', id]),
    ['screenshots'],
    ['dumps'],
    ['volume-snapshots'],
  ]

  async function* listEntries(): AsyncGenerator<TarEntry> {
    yield createJsonEntry(manifestName, manifest)
    for (const { name } of parts) yield await fileEntry(join(staging, name), name, note)
    for (const folder of folders) {
      if (folder[0] !== 'bundles') yield* skipUnfinished(folderEntries(join(data_dir, ...folder), folder.join('/'), note))
      // Temporary files of an app are not backed up.
      else for (const name of await listNames(join(data_dir, ...folder))) if (name !== 'tmp') yield* bundleEntries(data_dir, folder, name, note)
    }
  }
  const createTrailer = ({ entries, digest }: { entries: number; digest: string }): BackupTrailer => {
    if (changedFiles.length > maxListedChanges) left_out.push(`${changedFiles.length - maxListedChanges} more files of running apps.`)
    return { entries, digest, seal: toBase64(sealer.seal(sealColumn(created_at), digest)), left_out }
  }
  await pipeline(
    writeTar(digestEntries(listEntries(), createTrailer, signal), clock.now()),
    createGzip({ level: 1, chunkSize: 64 * 1024 }),
    createWriteStream(file, { flags: 'wx', mode: 0o600 }),
    { signal },
  )
  await syncToDisk(file)
  return left_out
}

/** Skips dumps and screenshots that are still being written under a temporary name. */
async function* skipUnfinished(entries: AsyncIterable<TarEntry>): AsyncGenerator<TarEntry> {
  for await (const entry of entries) if (!/^(?:dumps|screenshots|volume-snapshots)\/.*\.(?:part|new)$/.test(entry.name)) yield entry
}

async function* bundleEntries(data_dir: string, folder: string[], name: string, note: (what: string) => void): AsyncGenerator<TarEntry> {
  const path = join(data_dir, ...folder, name)
  const entryName = [...folder, name].join('/')
  if ((await stat(path)).isDirectory()) yield* folderEntries(path, entryName, note)
  else yield await fileEntry(path, entryName, note)
}

async function dumpDatabases({ databases }: BackupOptions, into: string, left_out: string[], signal: AbortSignal): Promise<string[]> {
  const names: string[] = []
  if (!databases) return names
  await mkdir(into, { mode: 0o700 })
  for await (const { db_name, sql } of databases.dumpAll(signal)) {
    const name = `${databasesFolder}/${db_name}.sql`
    try {
      await pipeline(Readable.from(sql, { objectMode: false }), createWriteStream(join(into, `${db_name}.sql`), { flags: 'wx', mode: 0o600 }), {
        signal,
      })
      names.push(name)
    } catch (error) {
      signal.throwIfAborted()
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error
      await rm(join(into, `${db_name}.sql`), { force: true })
      left_out.push(`The data of the database ${db_name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return names
}

async function describePart(path: string, name: string): Promise<BackupManifest['parts'][number]> {
  const checksum = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    checksum.update(chunk)
    bytes += chunk.length
  }
  return { name, bytes, sha256: checksum.digest('hex') }
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
