import Docker from 'dockerode'
import { dockerSocket } from './requirements.ts'
import { runProgram } from './runtime.ts'
import { until } from './until.ts'

/** Everything in Docker that belongs to one platform instance, found by its label. */
export interface DockerView {
  docker: Docker
  /** Containers, including stopped ones. `role` is `app` or `build`. */
  containers(): Promise<{ id: string; role: string; deployment_id: string; running: boolean }[]>
  /** Images by the deployment of their tag; '' for shared dependencies. */
  images(): Promise<{ id: string; role: string; deployment_id: string }[]>
  /** The address of a deployment's running app, and how often and when it was started; undefined if it is not running. */
  findApp(deploymentId: string): Promise<{ id: string; address: string; port: number; started_at: string; restarts: number } | undefined>
  removeAll(): Promise<void>
}

/** The last twelve characters of the owner's id, which an instance uses as its label. */
export const instanceIdOf = (ownerId: string): string => ownerId.slice(-12)

/**
 * Builds without the cache: its search fails if another test removes any image with the same parent at that moment
 * (`getLocalCachedImage` in Moby's `image/cache`).
 */
export const buildImage = (tag: string, folder: string, options: string[] = []): Promise<string> =>
  runProgram('docker', ['build', '--quiet', '--no-cache', '--force-rm', ...options, '--tag', tag, folder])

export function createDockerView(instanceId: string, socketPath = dockerSocket): DockerView {
  const docker = new Docker({ socketPath })
  const filters = { label: [`homeport.instance=${instanceId}`] }

  const containers = async () =>
    (await docker.listContainers({ all: true, filters })).map(({ Id, Labels, State }) => ({
      id: Id,
      role: Labels['homeport.role'] ?? '',
      deployment_id: Labels['homeport.deployment'] ?? '',
      running: State === 'running',
    }))

  return {
    docker,
    containers,
    async images() {
      return (await docker.listImages({ filters })).map(({ Id, RepoTags, Labels }) => ({
        id: Id,
        role: Labels?.['homeport.role'] ?? '',
        deployment_id: /:(dpl_\w+)/.exec(RepoTags?.[0] ?? '')?.[1] ?? '',
      }))
    },
    async findApp(deploymentId) {
      const app = (await containers()).find((one) => one.role === 'app' && one.deployment_id === deploymentId && one.running)
      if (!app) return undefined
      const { NetworkSettings, State, Config, RestartCount } = await docker.getContainer(app.id).inspect()
      return {
        id: app.id,
        address: Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '',
        port: Number(Config.Labels['homeport.port']),
        started_at: State.StartedAt,
        restarts: RestartCount,
      }
    },
    async removeAll() {
      // Repeated while a container is left, because the engine may be removing it or find its files busy.
      const removeContainers = async () => {
        const left = await containers()
        for (const { id } of left)
          await docker
            .getContainer(id)
            .remove({ force: true, v: true })
            .catch(() => {})
        return left.length === 0 || undefined
      }
      await until(removeContainers, { what: 'containers to go' })
      for (const { Id } of await docker.listImages({ filters })) await docker.getImage(Id).remove({ force: true }).catch(ignoreMissing)
      // Empty, and without labels.
      await docker.getImage(`homeport-${instanceId}-volumes`).remove({ force: true }).catch(ignoreMissing)
      for (const { Name } of (await docker.listVolumes({ filters: JSON.stringify(filters) })).Volumes ?? [])
        await docker.getVolume(Name).remove().catch(ignoreMissing)
      for (const { Id } of await docker.listNetworks({ filters })) await removeNetwork(docker.getNetwork(Id))
    },
  }
}

/**
 * Removes a network. Endpoints of removed containers remain for a moment. Occasionally the engine miscounts them, and only its restart removes the
 * network although nothing uses it (moby#42119). This is not an error of the test, so it is reported and ignored.
 */
export async function removeNetwork(network: Docker.Network): Promise<void> {
  let lastError: unknown
  const isGone = () =>
    network.remove().then(
      () => true,
      (error: unknown) => {
        lastError = error
        return statusOf(error) === 404 || undefined
      },
    )
  await until(isGone, { what: 'a network to go' }).catch(async (error: unknown) => {
    const { Name, Containers } = await network.inspect()
    const isMiscounted = String(lastError).includes('has active endpoints') && Object.keys(Containers ?? {}).length === 0
    if (!isMiscounted) throw error
    console.warn(`The network ${Name} stays: the engine counts endpoints on it that are not there (moby#42119).`)
  })
}

const statusOf = (error: unknown) => (error instanceof Error && 'statusCode' in error ? error.statusCode : undefined)

/** Ignores 404, and 409 while the engine itself is removing the object. */
function ignoreMissing(error: unknown): void {
  const status = statusOf(error)
  if (status !== 404 && status !== 409) throw error
}
