import { posix } from 'node:path'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { extract, pack } from 'tar-stream'
import { StartFailure, type ServiceRequest } from '../runtime.ts'
import type { VolumeMount } from '../written-paths.ts'
import { appRoot } from './build-runner.ts'
import { removeContainer, toReadable, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { connectContainer, holdNetwork, removeUnusedNetwork } from './networks.ts'

/** The capabilities with which official images change to their own user at startup; far fewer than Docker's default. */
export const readyImageCapabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID', 'KILL', 'NET_BIND_SERVICE']

export const getVolumeName = (engine: DockerEngine, id: string): string => engine.createName('volume', id)

/** The mount point of a volume in a container. For a single file it is a folder of Homeport, because SQLite needs further files next to its own. */
export const getMountPath = ({ id, path, is_file }: VolumeMount): string => (is_file ? `/homeport/volumes/${id.slice(id.indexOf('.') + 1)}` : path)

/** The part of a container's configuration that makes it a service. */
export function createServiceConfig(engine: DockerEngine, service: ServiceRequest): Docker.ContainerCreateOptions {
  const { health_command: health } = service
  const second_ns = 1e9
  return {
    ...(service.entrypoint && { Entrypoint: service.entrypoint }),
    ...(service.command && { Cmd: service.command }),
    ...(service.working_directory !== null && { WorkingDir: posix.resolve(appRoot, service.working_directory) }),
    ...(health && {
      Healthcheck: { Test: ['CMD', ...health.command], Timeout: health.timeout_s * second_ns, Interval: 30 * second_ns, Retries: 3 },
    }),
    // No Hostname, because Docker would resolve it on the instance's network, which all projects share.
    HostConfig: {
      ...(service.is_ready_image && { CapAdd: readyImageCapabilities }),
      Mounts: service.volumes.map((volume) => ({
        Type: 'volume' as const,
        Source: getVolumeName(engine, volume.id),
        Target: getMountPath(volume),
        ReadOnly: volume.is_read_only,
      })),
    },
  }
}

/** Creates the volumes of a service; existing ones are unchanged. */
export async function createVolumes(engine: DockerEngine, docker: Docker, projectId: string, { volumes }: ServiceRequest): Promise<void> {
  for (const { id, path } of volumes) {
    if (!path.startsWith('/'))
      throw new StartFailure('start_failed', `The volume at “${path}” has no absolute path.`, `Write the path as /app/${path.replace(/^\.\//, '')}.`)
    const Labels = engine.createLabels('volume', { project_id: projectId, 'homeport.volume': id })
    await docker.createVolume({ Name: getVolumeName(engine, id), Labels })
  }
}

/**
 * Gives volumes owned by root to the user of the image. Docker creates new volumes as root where the image has no folder at their path, and an app
 * another user could not write.
 */
export async function giveVolumesToUser(container: Docker.Container, { volumes }: ServiceRequest): Promise<void> {
  const paths = volumes.filter(({ is_read_only }) => !is_read_only).map(getMountPath)
  if (paths.length === 0) return
  const { Config } = await container.inspect()
  const [user = '', group = user] = Config.User.split(':')
  if (user === '' || user === 'root' || user === '0') return
  const ids = /^\d+$/.test(user) ? { uid: Number(user), gid: /^\d+$/.test(group) ? Number(group) : Number(user) } : await findUser(container, user)
  if (!ids) return
  for (const path of paths) {
    const folder = path.replace(/\/+$/, '')
    if ((await readOwner(container, folder)) !== 0) continue
    const archive = pack()
    archive.entry({ name: `${folder.slice(1)}/`, type: 'directory', mode: 0o755, ...ids })
    archive.finalize()
    await container.putArchive(Readable.from(archive, { objectMode: false }), { path: '/' })
  }
}

async function findUser(container: Docker.Container, name: string): Promise<{ uid: number; gid: number } | undefined> {
  const text = await readFirstEntry(container, '/etc/passwd', (_, content) => content)
  const [, uid, gid] = new RegExp(`^${name.replace(/[^\w-]/g, '\\$&')}:[^:]*:(\\d+):(\\d+):`, 'm').exec(text ?? '') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

const readOwner = (container: Docker.Container, path: string): Promise<number | undefined> => readFirstEntry(container, path, (uid) => uid)

/** Reads the owner and the text of the first entry at a path of a container; a folder has no text. */
async function readFirstEntry<T>(container: Docker.Container, path: string, select: (uid: number, text: string) => T): Promise<T | undefined> {
  const stream = await container.getArchive({ path }).then(toReadable, (error: unknown) => {
    if (getStatusCode(error) !== 404) throw error
    return undefined
  })
  if (!stream) return undefined
  try {
    for await (const entry of stream.pipe(extract())) {
      const chunks: Buffer[] = []
      for await (const chunk of entry) chunks.push(chunk as Buffer)
      return select(entry.header.uid ?? 0, Buffer.concat(chunks).toString('utf8'))
    }
    return undefined
  } finally {
    stream.destroy()
  }
}

/** Connects a container to the private networks of its service, then starts it. */
export async function startInNetworks(
  engine: DockerEngine,
  container: Docker.Container,
  projectId: string,
  networks: ServiceRequest['networks'],
  start: () => Promise<void>,
): Promise<void> {
  const [network, ...others] = networks
  if (!network) return start()
  const Name = getServiceNetworkName(engine, network.name)
  const { docker } = await engine.connection()
  return holdNetwork(Name, async () => {
    await engine.createPrivateNetwork(docker, { Name, Internal: false, Labels: engine.createLabels('network', { project_id: projectId }) })
    await connectContainer(docker, Name, container.id, network.host_names)
    return startInNetworks(engine, container, projectId, others, start)
  })
}

/** Removes a container, and private networks that no other container uses. */
export async function removeReplica(engine: DockerEngine, docker: Docker, container: Docker.Container): Promise<void> {
  const found = await container.inspect().catch((error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)))
  await removeContainer(container)
  for (const name of Object.keys(found?.NetworkSettings.Networks ?? {}))
    if (name.startsWith(getServiceNetworkName(engine, ''))) await removeUnusedNetwork(docker, name)
}

export const getServiceNetworkName = (engine: DockerEngine, name: string): string => engine.createName('services', name)
