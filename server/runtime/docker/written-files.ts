import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { extract, pack } from 'tar-stream'
import { limits } from '../../contract/limits.ts'
import { isDatabasePath } from '../../contract/volume-paths.ts'
import { type ServiceRequest } from '../runtime.ts'
import { isDatabaseHead, isWrittenPath, mayBeDatabase, databaseSuffixes, type WrittenFiles } from '../written-paths.ts'
import { toReadable } from './engine.ts'
import { getMountPath } from './service-container.ts'
import { isFolderPath, isRegularFile, readMode, readStat } from './volume-files.ts'

/** The files in a replica's own layer. Its volumes are not part of it, but are at their paths. */
export async function exportWrittenContainerFiles(container: Docker.Container, path: string, isFile: boolean): Promise<Readable | undefined> {
  const segments = path.split('/').filter((segment) => segment !== '')
  if (!isFile) {
    if (!(await isFolderPath({ container, path: '' }, segments))) return undefined
    return toReadable(await container.getArchive({ path: `/${segments.join('/')}/.` }))
  }
  if (!(await isFolderPath({ container, path: '' }, segments.slice(0, -1)))) return undefined
  const names: string[] = []
  for (const suffix of databaseSuffixes) if (isRegularFile(await readMode(container, path + suffix))) names.push(path + suffix)
  if (names[0] !== path) return undefined
  return packEach(names.map((name) => () => container.getArchive({ path: name })))
}

/** At most this many files are measured, which takes a request each, and this many are opened. */
const maxMeasured = 200
const maxOpened = 20

export async function listWrittenContainerFiles(container: Docker.Container): Promise<WrittenFiles> {
  const { Config, Mounts } = await container.inspect()
  const { changes, is_complete } = await readChanges(container)
  const folders = new Set(changes.map(({ path }) => posix.dirname(path)))
  const new_folders = new Set(changes.flatMap(({ path, is_new }) => (is_new && folders.has(path) ? [path] : [])))
  const candidates = changes.filter(({ path }) => !folders.has(path) && isWrittenPath(path)).map(({ path }) => path)
  const rank = (path: string) => (isDatabasePath(path) ? 0 : 1)
  candidates.sort((a, b) => rank(a) - rank(b) || a.split('/').length - b.split('/').length)
  const files: WrittenFiles['files'] = []
  let opened = 0
  for (const [index, path] of candidates.entries()) {
    if (index >= maxMeasured) {
      files.push({ path, bytes: null, is_database: false })
      continue
    }
    const { mode, size } = (await readStat(container, path)) ?? {}
    // An empty folder looks like a file in the list of changes.
    if (!isRegularFile(mode)) continue
    const is_database = mayBeDatabase(path) && opened++ < maxOpened && (await isDatabase(container, path))
    files.push({ path, bytes: size ?? null, is_database })
  }
  const image_volumes: NonNullable<WrittenFiles['image_volumes']> = []
  for (const { Name = '', Destination } of Mounts) {
    if (!anonymousVolume.test(Name) || !isWrittenPath(posix.join(Destination, 'file'))) continue
    const content = await measureFolder(container, Destination)
    if (content.files > 0) image_volumes.push({ path: Destination, ...content })
  }
  return { files, app_folder: posix.resolve('/', Config.WorkingDir), new_folders, is_complete, image_volumes }
}

/** Docker creates a volume with such a name for each VOLUME of an image, and removes it with its container. */
const anonymousVolume = /^[0-9a-f]{64}$/

/** Counts the files of a folder. Docker can only list it by reading it, so a large one is not read to its end. */
async function measureFolder(container: Docker.Container, path: string): Promise<{ files: number; bytes: number | null }> {
  const archive = toReadable(await container.getArchive({ path: posix.join(path, '.') }))
  let [files, bytes] = [0, 0]
  try {
    for await (const entry of archive.pipe(extract())) {
      if (entry.header.type === 'file') files++
      bytes += entry.header.size ?? 0
      if (bytes > limits.written_files.image_volume_bytes) return { files, bytes: null }
      entry.resume()
    }
    return { files, bytes }
  } finally {
    archive.destroy()
  }
}

/** The changes of a container's layer, of which only the first are read. */
async function readChanges({ modem, id }: Docker.Container): Promise<{ changes: { path: string; is_new: boolean }[]; is_complete: boolean }> {
  const options = {
    path: `/containers/${id}/changes?`,
    method: 'GET',
    isStream: true,
    statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
  }
  const response = await new Promise<unknown>((resolve, reject) =>
    (modem as Docker['modem']).dial(options, (error: unknown, data: unknown) =>
      error ? reject(error instanceof Error ? error : new Error(String(error))) : resolve(data),
    ),
  )
  const stream = toReadable(response)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream) {
      chunks.push(chunk as Buffer)
      bytes += (chunk as Buffer).length
      if (bytes > limits.written_files.list_bytes) break
    }
  } finally {
    stream.destroy()
  }
  const is_complete = bytes <= limits.written_files.list_bytes
  const text = Buffer.concat(chunks).toString('utf8').trim()
  const end = text.lastIndexOf('},')
  const list: unknown = JSON.parse(is_complete ? text || 'null' : end < 0 ? 'null' : `${text.slice(0, end + 1)}]`)
  const changes = (Array.isArray(list) ? list : []) as { Path: string; Kind: number }[]
  // Kinds: 0 modified, 1 added, 2 deleted.
  return { changes: changes.filter(({ Kind }) => Kind !== 2).map(({ Path, Kind }) => ({ path: Path, is_new: Kind === 1 })), is_complete }
}

async function isDatabase(container: Docker.Container, path: string): Promise<boolean> {
  const archive = toReadable(await container.getArchive({ path }))
  try {
    for await (const entry of archive.pipe(extract())) for await (const chunk of entry) return isDatabaseHead(chunk as Buffer)
    return false
  } finally {
    archive.destroy()
  }
}

/** Concatenates archives. */
function packEach(archives: (() => Promise<NodeJS.ReadableStream>)[]): Readable {
  const all = pack()
  const copy = async () => {
    for (const open of archives)
      for await (const entry of toReadable(await open()).pipe(extract())) await pipeline(entry, all.entry({ ...entry.header, pax: null }))
    all.finalize()
  }
  copy().catch((error: unknown) => all.destroy(error instanceof Error ? error : new Error(String(error))))
  return Readable.from(all, { objectMode: false })
}

/**
 * Links the files of volumes to their paths in a container that was not started yet. A new volume starts with the image's file at
 * has there.
 */
export async function linkFiles(container: Docker.Container, { volumes }: ServiceRequest): Promise<void> {
  for (const volume of volumes) {
    if (!volume.is_file) continue
    const folder = getMountPath(volume)
    const target = posix.join(folder, posix.basename(volume.path))
    const isNew = (await readMode(container, target)) === undefined
    if (isNew && isRegularFile(await readMode(container, volume.path)))
      await container.putArchive(toReadable(await container.getArchive({ path: volume.path })), { path: folder })
    const archive = pack()
    archive.entry({ name: posix.join('/', volume.path).slice(1), type: 'symlink', linkname: target })
    archive.finalize()
    await container.putArchive(Readable.from(archive, { objectMode: false }), { path: '/' })
  }
}
