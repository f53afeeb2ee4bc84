import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { pack } from 'tar-stream'
import { removeContainer, toReadable, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { getVolumeName } from './service-container.ts'

/** Where the helper container has the volume. It is never started: Docker reads and writes the files of a created container. */
const mountPath = '/volume'

export async function listVolumes(engine: DockerEngine, prefix: string): Promise<{ id: string; bytes: number | null }[]> {
  const { docker } = await engine.connection()
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(engine.createOwnFilters({ 'homeport.role': 'volume' })) })
  const own = (Volumes ?? []).filter(({ Labels }) => Labels['homeport.volume']?.startsWith(prefix))
  if (own.length === 0) return []
  // Docker measures all volumes at once, one request at a time.
  const totals = await docker.df().catch(() => undefined)
  const sizes = new Map((totals as { Volumes?: VolumeSize[] } | undefined)?.Volumes?.map(({ Name, UsageData }) => [Name, UsageData?.Size ?? null]))
  return own.map(({ Name, Labels }) => ({ id: Labels['homeport.volume'] ?? '', bytes: sizes.get(Name) ?? null }))
}

interface VolumeSize {
  Name: string
  UsageData?: { Size: number }
}

/** The files of a volume as a tar stream; undefined when it does not exist. */
export async function exportVolume(engine: DockerEngine, id: string): Promise<Readable | undefined> {
  const { docker } = await engine.connection()
  const exists = await findVolume(docker, getVolumeName(engine, id))
  if (!exists) return undefined
  const container = await createHelper(engine, docker, id)
  /** Ends after the container was removed, which holds the volume. */
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
export async function importVolume(engine: DockerEngine, id: string, projectId: string, archive: Readable): Promise<void> {
  const { docker } = await engine.connection()
  const Name = getVolumeName(engine, id)
  await docker
    .getVolume(Name)
    .remove()
    .catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))
  await docker.createVolume({ Name, Labels: engine.createLabels('volume', { project_id: projectId, 'homeport.volume': id }) })
  const container = await createHelper(engine, docker, id)
  try {
    await container.putArchive(archive, { path: mountPath })
  } finally {
    await removeContainer(container)
  }
}

const findVolume = (docker: Docker, name: string): Promise<boolean> =>
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
    Labels: engine.createLabels('build'),
    HostConfig: { NetworkMode: 'none', Mounts: [{ Type: 'volume', Source: getVolumeName(engine, id), Target: mountPath }] },
  })
}

/** An image without files, so that nothing has to be pulled. */
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
