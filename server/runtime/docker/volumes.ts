import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { extract, type Header, pack } from 'tar-stream'
import { measureEngineDisk } from './engine-disk.ts'
import { removeContainer, toReadable, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { getVolumeName } from './service-container.ts'

const { join } = posix

/** The mount point of the volume in the helper container, which is never started: Docker reads and writes the files of a created container. */
const mountPath = '/volume'

export async function listDockerVolumes(engine: DockerEngine, prefix: string): Promise<{ id: string; bytes: number | null }[]> {
  const { docker } = await engine.connection()
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(engine.createOwnFilters({ 'homeport.role': 'volume' })) })
  const own = (Volumes ?? []).filter(({ Labels }) => Labels['homeport.volume']?.startsWith(prefix))
  if (own.length === 0) return []
  const totals = await measureEngineDisk(docker)
  const sizes = new Map(totals?.Volumes?.map(({ Name, UsageData }) => [Name, UsageData?.Size ?? null]))
  return own.map(({ Name, Labels }) => ({ id: Labels['homeport.volume'] ?? '', bytes: sizes.get(Name) ?? null }))
}

/** A container with the volume at `path`, which the caller removes; undefined when the volume does not exist. */
export async function openVolume(engine: DockerEngine, id: string): Promise<{ container: Docker.Container; path: string } | undefined> {
  const { docker } = await engine.connection()
  if (!(await findVolume(docker, getVolumeName(engine, id)))) return undefined
  return { container: await createHelper(engine, docker, id), path: mountPath }
}

/** The files of a volume as a tar stream; undefined when it does not exist. */
export async function exportDockerVolume(engine: DockerEngine, id: string): Promise<Readable | undefined> {
  const volume = await openVolume(engine, id)
  if (!volume) return undefined
  const { container } = volume
  /** Waits for the removal of the container, which holds the volume. */
  async function* read(): AsyncIterable<Buffer> {
    try {
      for await (const chunk of toReadable(await container.getArchive({ path: `${mountPath}/.` }))) yield chunk as Buffer
    } finally {
      await removeContainer(container)
    }
  }
  return Readable.from(read(), { objectMode: false })
}

/** Replaces the files of a volume, which no container may use. */
export async function importDockerVolume(engine: DockerEngine, id: string, projectId: string, archive: Readable): Promise<void> {
  const { docker } = await engine.connection()
  await recreateVolume(engine, docker, id, projectId)
  const container = await createHelper(engine, docker, id)
  try {
    await container.putArchive(moveIntoVolume(archive), { path: '/' })
  } finally {
    await removeContainer(container)
  }
}

/** Leaves an empty volume, which no container may use. */
export async function recreateVolume(engine: DockerEngine, docker: Docker, id: string, projectId: string): Promise<void> {
  if (!(await removeDockerVolume(engine, id))) throw new Error('A container uses the volume.')
  const Labels = engine.createLabels('volume', { project_id: projectId, 'homeport.volume': id })
  await docker.createVolume({ Name: getVolumeName(engine, id), Labels })
}

/**
 * The same archive with paths from the root of the helper container. Docker refuses a link that leads out of the folder into which it unpacks, and a
 * volume may have such links.
 */
function moveIntoVolume(archive: Readable): Readable {
  const moved = pack()
  const move = (name: string) => join(mountPath, join('/', name)).slice(1)
  const copy = async () => {
    for await (const entry of archive.pipe(extract())) {
      const { name, type, linkname } = entry.header
      const header = { ...entry.header, name: `${move(name)}${type === 'directory' ? '/' : ''}`, pax: keepRecords(entry.header) }
      if (type === 'link' && linkname) header.linkname = move(linkname)
      await pipeline(entry, moved.entry(header))
    }
    moved.finalize()
  }
  archive.once('error', (error) => moved.destroy(error))
  copy().catch((error: unknown) => {
    archive.destroy()
    moved.destroy(error instanceof Error ? error : new Error(String(error)))
  })
  return Readable.from(moved, { objectMode: false })
}

/** The PAX records of an entry that its header lacks, such as attributes. Records that are not text cannot be written again. */
function keepRecords(header: Header & { pax?: unknown }): Record<string, string> | null {
  if (typeof header.pax !== 'object' || header.pax === null) return null
  const records = Object.entries(header.pax).map(([key, value]): [string, string] => [key, String(value)])
  return Object.fromEntries(records.filter(([key, value]) => !['path', 'linkpath', 'size'].includes(key) && !value.includes('\uFFFD')))
}

/** A container that copies volumes has a label with the name of its target. */
export const copyLabel = 'homeport.copies-to'

/** Labels of a helper container: its volume, and the run of the platform that removes it. */
const openLabel = 'homeport.opens'
const runLabel = 'homeport.run'
const thisRun = randomUUID()

/** Removes a volume; false when a container uses it. */
export async function removeDockerVolume(engine: DockerEngine, id: string): Promise<boolean> {
  const { docker } = await engine.connection()
  const listUsers = (label: string) => docker.listContainers({ all: true, filters: JSON.stringify(engine.createOwnFilters({ [label]: id })) })
  // A killed platform may have left them.
  const leftovers = [...(await listUsers(copyLabel)), ...(await listUsers(openLabel)).filter(({ Labels }) => Labels[runLabel] !== thisRun)]
  for (const { Id } of leftovers) await removeContainer(docker.getContainer(Id))
  return docker
    .getVolume(getVolumeName(engine, id))
    .remove()
    .then(
      () => true,
      (error: unknown) => {
        const status = getStatusCode(error)
        if (status !== 404 && status !== 409) throw error
        return status === 404
      },
    )
}

export const findVolume = (docker: Docker, name: string): Promise<boolean> =>
  docker
    .getVolume(name)
    .inspect()
    .then(
      () => true,
      (error: unknown) => (getStatusCode(error) === 404 ? false : Promise.reject(error)),
    )

async function createHelper(engine: DockerEngine, docker: Docker, id: string): Promise<Docker.Container> {
  const Image = await ensureEmptyImage(engine, docker)
  return docker.createContainer({
    Image,
    Cmd: ['none'],
    Labels: engine.createLabels('build', { [openLabel]: id, [runLabel]: thisRun }),
    HostConfig: { NetworkMode: 'none', Mounts: [{ Type: 'volume', Source: getVolumeName(engine, id), Target: mountPath }] },
  })
}

/** An image without files, so that nothing needs to be pulled. */
async function ensureEmptyImage(engine: DockerEngine, docker: Docker): Promise<string> {
  const repo = engine.createName('volumes')
  const exists = await docker
    .getImage(repo)
    .inspect()
    .then(
      () => true,
      () => false,
    )
  if (exists) return repo
  const archive = pack()
  archive.entry({ name: 'volume/', type: 'directory', mode: 0o755, mtime: new Date(0) })
  archive.finalize()
  const response = toReadable(await docker.importImage(Readable.from(archive, { objectMode: false }), { repo, tag: 'latest' }))
  await new Promise<void>((resolve, reject) => docker.modem.followProgress(response, (error) => (error ? reject(error) : resolve())))
  return repo
}
