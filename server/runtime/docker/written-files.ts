import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { extract, pack } from 'tar-stream'
import { databaseSuffixes, type ServiceRequest, type WrittenFilesOwner } from '../runtime.ts'
import { type DockerEngine, toReadable } from './engine.ts'
import { getMountPath } from './service-container.ts'
import { isFolderPath, isRegularFile, readMode } from './volume-files.ts'

/** The files of a replica's own layer. Its volumes are not part of it, but are at their paths. */
export async function exportWrittenFiles(
  engine: DockerEngine,
  { replica_id }: WrittenFilesOwner,
  path: string,
  isFile: boolean,
): Promise<Readable | undefined> {
  if (replica_id === null) return undefined
  const { docker } = await engine.connection()
  const container = docker.getContainer(replica_id)
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

/** Puts archives together, one after the other. */
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
 * Makes the files of volumes appear at their paths in a container that was not started yet, as links. A new volume begins with the file that the image
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
