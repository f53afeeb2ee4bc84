import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { extract } from 'tar-stream'
import { limits } from '../../contract/limits.ts'
import type { VolumeEntry } from '../../contract/volumes.ts'
import type { Runtime } from '../runtime.ts'
import { splitVolumePath } from '../volume-path.ts'
import { type DockerEngine, removeContainer, toReadable } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { openVolume } from './volumes.ts'

type Folder = Awaited<ReturnType<Runtime['listVolumeFolder']>>
type File = Awaited<ReturnType<Runtime['readVolumeFile']>>

/** Docker can only list a folder by reading everything in it, so a listing stops after this much. */
const maxReadBytes = 2 * 2 ** 30
/** Bits of Go's `FileMode`. */
const folderBit = 0x8000_0000
const linkBit = 0x0800_0000
/** Folder, link, device, pipe, socket, character device and irregular. */
const typeBits = 0x8f28_0000

export async function listDockerVolumeFolder(engine: DockerEngine, id: string, path: string): Promise<Folder> {
  const segments = splitVolumePath(path)
  const volume = await openVolume(engine, id)
  if (!volume) return undefined
  try {
    if (!(await isFolderPath(volume, segments))) return undefined
    const archive = toReadable(await volume.container.getArchive({ path: `${[volume.path, ...segments].join('/')}/.` }))
    const entries: VolumeEntry[] = []
    let bytes = 0
    try {
      for await (const entry of archive.pipe(extract())) {
        const [name = '', ...below] = entry.header.name.split('/').filter((segment) => segment !== '' && segment !== '.')
        bytes += entry.header.size ?? 0
        if (name !== '' && below.length === 0) {
          if (entries.length === limits.volume_entries || bytes > maxReadBytes) return { entries, is_complete: false }
          const kind = entryKinds.get(entry.header.type ?? '') ?? 'other'
          const size_bytes = kind === 'file' && entry.header.type !== 'link' ? (entry.header.size ?? 0) : null
          entries.push({ name, kind, size_bytes, modified_at: entry.header.mtime?.toISOString() ?? null })
        } else if (bytes > maxReadBytes) return { entries, is_complete: false }
        entry.resume()
      }
    } finally {
      archive.destroy()
    }
    return { entries, is_complete: true }
  } finally {
    await removeContainer(volume.container)
  }
}

const entryKinds = new Map<string, VolumeEntry['kind']>([
  ['file', 'file'],
  ['contiguous-file', 'file'],
  // An additional hard link to a file in this folder.
  ['link', 'file'],
  ['directory', 'folder'],
  ['symlink', 'link'],
])

export async function readDockerVolumeFile(engine: DockerEngine, id: string, path: string): Promise<File> {
  const segments = splitVolumePath(path)
  const volume = await openVolume(engine, id)
  if (!volume) return undefined
  const { container } = volume
  const name = segments.pop()
  const archive =
    name !== undefined && (await isFolderPath(volume, segments).catch(() => false))
      ? await container.getArchive({ path: [volume.path, ...segments, name].join('/') }).then(toReadable, ignoreMissing)
      : undefined
  const close = async () => {
    archive?.destroy()
    await removeContainer(container)
  }
  try {
    const archiveEntries = archive?.pipe(extract())[Symbol.asyncIterator]()
    const first = await archiveEntries?.next()
    if (!first || first.done || entryKinds.get(first.value.header.type ?? '') !== 'file') {
      await close()
      return undefined
    }
    const entry = first.value
    /** Waits for the removal of the container, which holds the volume. */
    async function* read(): AsyncIterable<Buffer> {
      try {
        for await (const chunk of entry) yield chunk as Buffer
      } finally {
        await close()
      }
    }
    return { bytes: entry.header.size ?? 0, content: Readable.from(read(), { objectMode: false }) }
  } catch (error) {
    await close()
    throw error
  }
}

/** Whether each segment is a folder. Symlinks are not followed, because they may lead out of the volume. */
export async function isFolderPath(
  { container, path }: { container: Docker.Container; path: string },
  segments: readonly string[],
): Promise<boolean> {
  let full = path
  for (const segment of segments) {
    full += `/${segment}`
    const mode = await readMode(container, full)
    if (mode === undefined || (mode & folderBit) === 0 || (mode & linkBit) !== 0) return false
  }
  return true
}

/** Whether the mode of Go's `FileMode` is that of a regular file; its highest bits are types. */
export const isRegularFile = (mode: number | undefined): boolean => mode !== undefined && (mode & typeBits) === 0

export const readMode = async (container: Docker.Container, path: string): Promise<number | undefined> => (await readStat(container, path))?.mode

/** Undefined if nothing exists there. `mode` is Go's `FileMode`. */
export async function readStat(container: Docker.Container, path: string): Promise<{ mode: number; size: number | null } | undefined> {
  const response: unknown = await container.infoArchive({ path }).catch(ignoreMissing)
  if (typeof response !== 'object' || response === null || !('headers' in response)) return undefined
  const headers = response.headers as Record<string, string | undefined>
  if ('resume' in response && typeof response.resume === 'function') response.resume()
  const stat: unknown = JSON.parse(Buffer.from(headers['x-docker-container-path-stat'] ?? '', 'base64').toString() || '{}')
  if (typeof stat !== 'object' || stat === null || !('mode' in stat) || typeof stat.mode !== 'number') return undefined
  return { mode: stat.mode, size: 'size' in stat && typeof stat.size === 'number' ? stat.size : null }
}

function ignoreMissing(error: unknown): undefined {
  // Docker answers 400 for a path below something that is not a folder.
  const status = getStatusCode(error)
  if (status !== 404 && status !== 400) throw error
}
