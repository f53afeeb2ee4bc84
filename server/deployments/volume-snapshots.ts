import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import type { VolumeSnapshot } from '../contract/volumes.ts'
import { newId } from '../lib/id.ts'
import { packFiles } from '../lib/pack-files.ts'
import type { Runtime } from '../runtime/runtime.ts'

/**
 * Snapshots of volumes in `volume-snapshots/{volume}`: folders `{id}.{reason}.{bytes}.files` that share the blocks of their files with the volume, where
 * the file system can, and compressed tar files `{id}.{reason}.tar.gz` elsewhere. Each has its name once it is complete.
 */
export interface VolumeSnapshots {
  list(volumeId: string): Promise<VolumeSnapshot[]>
  /** Undefined when the volume does not exist. */
  save(runtime: Runtime, volumeId: string, reason: VolumeSnapshot['reason']): Promise<VolumeSnapshot | undefined>
  /** Stores files from a tar stream as a snapshot of a volume that may not exist yet. */
  store(volumeId: string, reason: VolumeSnapshot['reason'], archive: Readable): Promise<void>
  has(volumeId: string, snapshotId: string): Promise<boolean>
  /** Replaces the files of a volume; false when the snapshot does not exist. */
  restore(runtime: Runtime, volume: { id: string; project_id: string }, snapshotId: string): Promise<boolean>
  /** A compressed tar stream; undefined when the snapshot does not exist. */
  download(volumeId: string, snapshotId: string): Promise<Readable | undefined>
  /** False when it does not exist. */
  remove(volumeId: string, snapshotId: string): Promise<boolean>
  /** The volumes that have snapshots and whose id starts with `prefix`. */
  listVolumes(prefix: string): Promise<string[]>
  /** Removes all snapshots of the volumes whose id starts with `prefix`. */
  removeAll(prefix: string): Promise<void>
}

interface StoredSnapshot {
  id: string
  reason: VolumeSnapshot['reason']
  path: string
  /** Of a folder; null for an archive. */
  bytes: number | null
}

const nameOfSnapshot = /^(snp_[0-9a-z]+)\.(manual|before_restore|before_delete|before_replace)\.(?:tar\.gz|(\d+)\.files)$/
const gzipOptions = { level: 1 }

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

export function createVolumeSnapshots(dataDir: string): VolumeSnapshots {
  const root = join(dataDir, 'volume-snapshots')
  const listFolders = async (prefix: string) => (await readdir(root).catch((): string[] => [])).filter((name) => name.startsWith(prefix))
  const listStored = async (volumeId: string): Promise<StoredSnapshot[]> => {
    const names = await readdir(join(root, volumeId)).catch((): string[] => [])
    return names.flatMap((name) => {
      const [, id = '', reason = '', bytes] = nameOfSnapshot.exec(name) ?? []
      const stored = { id, reason: reason as VolumeSnapshot['reason'], path: join(root, volumeId, name) }
      return id === '' ? [] : [{ ...stored, bytes: bytes === undefined ? null : Number(bytes) }]
    })
  }
  const find = async (volumeId: string, id: string) => (await listStored(volumeId)).find((one) => one.id === id)

  const describe = async ({ id, reason, path, bytes }: StoredSnapshot): Promise<VolumeSnapshot> => {
    const { size, ctime, mtime } = await stat(path)
    // A folder has the time of the volume's folder, so the time in its name is used.
    return { id, reason, bytes: bytes ?? size, created_at: (bytes === null ? mtime : ctime).toISOString() }
  }

  /** Undefined where the file system cannot share blocks. */
  const saveClone = async (runtime: Runtime, volumeId: string, id: string, reason: VolumeSnapshot['reason']): Promise<StoredSnapshot | undefined> => {
    const part = join(root, volumeId, `${id}.part`)
    const bytes = await runtime.cloneVolume(volumeId, part)
    if (bytes === undefined) return undefined
    const path = join(root, volumeId, `${id}.${reason}.${bytes}.files`)
    await rename(part, path)
    return { id, reason, path, bytes }
  }

  const saveArchive = async (volumeId: string, id: string, reason: VolumeSnapshot['reason'], archive: Readable): Promise<StoredSnapshot> => {
    const path = join(root, volumeId, `${id}.${reason}.tar.gz`)
    await mkdir(join(root, volumeId), { recursive: true, mode: 0o700 })
    try {
      await pipeline(archive, createGzip(gzipOptions), createWriteStream(`${path}.part`, { mode: 0o600, flush: true }))
      await rename(`${path}.part`, path)
    } catch (error) {
      await rm(`${path}.part`, { force: true })
      throw error
    }
    return { id, reason, path, bytes: null }
  }

  /** Errors of the source end the stream. */
  const pipe = (source: Readable, transform: ReturnType<typeof createGzip>): Readable => {
    pipeline(source, transform).catch(() => {})
    return transform
  }

  return {
    async list(volumeId) {
      // One that is removed meanwhile is not listed.
      const snapshots = await Promise.all((await listStored(volumeId)).map((stored) => describe(stored).catch(undefinedIfMissing)))
      return snapshots.filter((snapshot) => snapshot !== undefined).sort((a, b) => (a.id < b.id ? 1 : -1))
    },
    async save(runtime, volumeId, reason) {
      const id = newId('snp')
      const clone = await saveClone(runtime, volumeId, id, reason)
      if (clone) return describe(clone)
      const archive = await runtime.exportVolume(volumeId)
      return archive && describe(await saveArchive(volumeId, id, reason, archive))
    },
    store: async (volumeId, reason, archive) => void (await saveArchive(volumeId, newId('snp'), reason, archive)),
    has: async (volumeId, snapshotId) => (await find(volumeId, snapshotId)) !== undefined,
    async restore(runtime, { id, project_id }, snapshotId) {
      const stored = await find(id, snapshotId)
      if (!stored) return false
      if (stored.bytes !== null && (await runtime.restoreClone(id, stored.path))) return true
      const archive = stored.bytes === null ? pipe(createReadStream(stored.path), createGunzip()) : packFiles(stored.path, ['.'])
      await runtime.importVolume(id, project_id, archive)
      return true
    },
    async download(volumeId, snapshotId) {
      const stored = await find(volumeId, snapshotId)
      if (!stored) return undefined
      return stored.bytes === null ? createReadStream(stored.path) : pipe(packFiles(stored.path, ['.']), createGzip(gzipOptions))
    },
    async remove(volumeId, snapshotId) {
      const stored = await find(volumeId, snapshotId)
      if (!stored) return false
      await rm(stored.path, { recursive: true, force: true, maxRetries: 5 })
      return true
    },
    async listVolumes(prefix) {
      const found = await Promise.all((await listFolders(prefix)).map(async (id) => ((await listStored(id)).length > 0 ? [id] : [])))
      return found.flat()
    },
    async removeAll(prefix) {
      for (const name of await listFolders(prefix)) await rm(join(root, name), { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
