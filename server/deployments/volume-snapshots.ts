import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import type { VolumeSnapshot } from '../contract/volumes.ts'
import { newId } from '../lib/id.ts'

/** Snapshots of volumes as compressed tar files, `volume-snapshots/{volume}/{id}.{reason}.tar.gz`. A file has its name once it is complete. */
export interface VolumeSnapshots {
  list(volumeId: string): Promise<VolumeSnapshot[]>
  create(volumeId: string, reason: VolumeSnapshot['reason'], archive: Readable): Promise<VolumeSnapshot>
  /** The tar stream of a snapshot; undefined when it does not exist. */
  open(volumeId: string, snapshotId: string): Promise<Readable | undefined>
  /** The file of a snapshot; undefined when it does not exist. */
  findFile(volumeId: string, snapshotId: string): Promise<string | undefined>
  /** False when it does not exist. */
  remove(volumeId: string, snapshotId: string): Promise<boolean>
  /** The volumes that have snapshots and whose id starts with `prefix`. */
  listVolumes(prefix: string): Promise<string[]>
  /** Removes all snapshots of the volumes whose id starts with `prefix`. */
  removeAll(prefix: string): Promise<void>
}

const fileName = /^(snp_[0-9a-z]+)\.(manual|before_restore|before_delete)\.tar\.gz$/

export function createVolumeSnapshots(dataDir: string): VolumeSnapshots {
  const root = join(dataDir, 'volume-snapshots')
  const listFolders = async (prefix: string) => (await readdir(root).catch((): string[] => [])).filter((name) => name.startsWith(prefix))
  const listFiles = async (volumeId: string) => {
    const names = await readdir(join(root, volumeId)).catch((): string[] => [])
    return names.flatMap((name) => {
      const [, id = '', reason = ''] = fileName.exec(name) ?? []
      return id === '' ? [] : [{ id, reason: reason as VolumeSnapshot['reason'], file: join(root, volumeId, name) }]
    })
  }
  const findFile = async (volumeId: string, id: string) => (await listFiles(volumeId)).find((one) => one.id === id)?.file

  return {
    async list(volumeId) {
      const snapshots = await Promise.all(
        (await listFiles(volumeId)).map(async ({ id, reason, file }) => {
          const { size, mtime } = await stat(file)
          return { id, reason, bytes: size, created_at: mtime.toISOString() }
        }),
      )
      return snapshots.sort((a, b) => (a.id < b.id ? 1 : -1))
    },
    async create(volumeId, reason, archive) {
      const id = newId('snp')
      const file = join(root, volumeId, `${id}.${reason}.tar.gz`)
      await mkdir(join(root, volumeId), { recursive: true, mode: 0o700 })
      try {
        await pipeline(archive, createGzip({ level: 1 }), createWriteStream(`${file}.part`, { mode: 0o600, flush: true }))
        await rename(`${file}.part`, file)
      } catch (error) {
        await rm(`${file}.part`, { force: true })
        throw error
      }
      const { size, mtime } = await stat(file)
      return { id, reason, bytes: size, created_at: mtime.toISOString() }
    },
    async open(volumeId, snapshotId) {
      const file = await findFile(volumeId, snapshotId)
      if (file === undefined) return undefined
      const stream = createGunzip()
      pipeline(createReadStream(file), stream).catch(() => {})
      return stream
    },
    findFile,
    async remove(volumeId, snapshotId) {
      const file = await findFile(volumeId, snapshotId)
      if (file === undefined) return false
      await rm(file, { force: true })
      return true
    },
    async listVolumes(prefix) {
      const found = await Promise.all((await listFolders(prefix)).map(async (id) => ((await listFiles(id)).length > 0 ? [id] : [])))
      return found.flat()
    },
    async removeAll(prefix) {
      for (const name of await listFolders(prefix)) await rm(join(root, name), { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
