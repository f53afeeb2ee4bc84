import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Standby, ReplicatedPart } from '../../contract/standbys.ts'
import { type Clock, isoTime } from '../../lib/clock.ts'
import { copyDatabaseFile } from '../../store/database-copy.ts'
import { listReplicatedDeployments, listReplicatedProjects } from '../../store/replicated-parts.ts'
import type { Db } from '../../store/store.ts'
import { createWalStream, type WalPosition, type WalStream } from '../../store/wal-stream.ts'
import { createJsonEntry, digestEntries, folderEntries } from '../backup/backup-entries.ts'
import { locateArtifact, mainDatabaseFile, manifestName } from '../backup/backup-format.ts'
import { type TarEntry, writeTar } from '../backup/tar-writer.ts'

/** What a standby copies from this instance. */
export interface ReplicationSource {
  /** Changes from a position on, and from now on these are kept for this standby. Without a position: where a copy is to be made. */
  readChanges(name: string, position: WalPosition | undefined): Promise<{ changes: Uint8Array | null; next: WalPosition; is_end: boolean }>
  copyDatabase(): Promise<AsyncIterable<Uint8Array>>
  listParts(): Promise<ReplicatedPart[]>
  /** A part as a file like a backup; undefined if it is not in the list. */
  copyPart(folder: ReplicatedPart['folder'], part: string): Promise<AsyncIterable<Uint8Array> | undefined>
  listStandbys(): Omit<Standby, 'takes_over'>[]
  close(): Promise<void>
}

const maxChanges_bytes = 2 ** 20
/** A standby that is silent for this long follows no more. */
const silence_ms = 60_000

export async function createReplicationSource({ data_dir, db, clock }: { data_dir: string; db: Db; clock: Clock }): Promise<ReplicationSource> {
  const drafts = join(data_dir, 'replication')
  // What an earlier run has left.
  await rm(drafts, { recursive: true, force: true, maxRetries: 3 })
  const followers = new Map<string, { behind_bytes: number; is_synced: boolean; seen_at: number; seen_monotonic: number }>()
  let activeCopies = 0
  let opening: Promise<WalStream> | undefined
  let isClosed = false

  const listFollowers = () => {
    for (const [name, { seen_monotonic }] of followers)
      if (activeCopies === 0 && clock.monotonic() - seen_monotonic > silence_ms) followers.delete(name)
    return followers
  }

  /** Without a standby, the log is moved into the file in its own thread. */
  const release = async (): Promise<void> => {
    const stream = await opening
    opening = undefined
    followers.clear()
    stream?.close()
  }
  const silence = clock.setInterval(() => void (listFollowers().size === 0 && opening && release()), silence_ms)
  silence.unref()

  const listCandidates = async (): Promise<Pick<ReplicatedPart, 'folder' | 'part'>[]> => {
    const projects = await db.read(listReplicatedProjects)
    const deployments = await db.read(listReplicatedDeployments)
    const bundles = new Set(deployments.flatMap(({ artifact }) => (artifact === null ? [] : (locateArtifact(artifact)?.id ?? []))))
    return [
      ...projects.map(({ id: part }) => ({ folder: 'archives', part }) as const),
      ...deployments.map(({ id: part }) => ({ folder: 'sources', part }) as const),
      ...[...bundles].map((part) => ({ folder: 'bundles', part }) as const),
    ]
  }
  /** undefined: it has no files. */
  const readVersion = async ({ folder, part }: Pick<ReplicatedPart, 'folder' | 'part'>): Promise<ReplicatedPart | undefined> => {
    const info = await stat(join(data_dir, folder, part)).catch(() => undefined)
    return info?.isDirectory() ? { folder, part, version: String(info.mtimeMs) } : undefined
  }

  return {
    async readChanges(name, position) {
      const stream = await (opening ??= createWalStream(db))
      const found = position && stream.read(position, maxChanges_bytes)
      const end = stream.end()
      const next = found?.next ?? stream.start()
      const is_synced = found !== undefined && next.generation === end.generation && next.offset === end.offset
      const behind_bytes = position?.generation === end.generation ? end.offset - position.offset : end.offset
      followers.set(name, { behind_bytes, is_synced, seen_at: clock.now(), seen_monotonic: clock.monotonic() })
      return { changes: found?.bytes ?? (position ? null : new Uint8Array()), next, is_end: is_synced }
    },

    async copyDatabase() {
      await mkdir(drafts, { recursive: true, mode: 0o700 })
      const folder = await mkdtemp(join(drafts, 'copy-'))
      activeCopies++
      const remove = () => {
        activeCopies--
        for (const follower of followers.values()) follower.seen_monotonic = clock.monotonic()
        return rm(folder, { recursive: true, force: true, maxRetries: 3 })
      }
      try {
        await copyDatabaseFile(join(data_dir, mainDatabaseFile), join(folder, mainDatabaseFile))
      } catch (error) {
        await remove()
        throw error
      }
      const bytes = createReadStream(join(folder, mainDatabaseFile), { highWaterMark: 256 * 1024 })
      bytes.once('close', () => void remove())
      return bytes
    },

    async listParts() {
      const found = await Promise.all((await listCandidates()).map(readVersion))
      return found.filter((part) => part !== undefined)
    },

    async copyPart(folder, part) {
      const candidate = (await listCandidates()).find((one) => one.folder === folder && one.part === part)
      if (!candidate || !(await readVersion(candidate))) return undefined
      return Readable.from(
        writeTar(
          digestEntries(listEntries(data_dir, folder, part), (result) => result),
          clock.now(),
        ),
      ).pipe(createGzip({ level: 1 }))
    },

    listStandbys: () =>
      [...listFollowers()].map(([name, { behind_bytes, is_synced, seen_at }]) => ({ name, behind_bytes, is_synced, seen_at: isoTime(seen_at) })),

    async close() {
      if (isClosed) return
      isClosed = true
      silence.cancel()
      await release()
      await rm(drafts, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** The entries as in a backup, between a document and the digest of all of them. */
async function* listEntries(data_dir: string, folder: string, part: string): AsyncGenerator<TarEntry> {
  yield createJsonEntry(manifestName, {})
  yield* folderEntries(join(data_dir, folder, part), `${folder}/${part}`, () => {})
}
