import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { sleep, systemClock } from '../../lib/clock.ts'
import { connectToDocker, findDockerAddresses, type DockerConnection } from './connection.ts'
import { BuildFailure, type RuntimeOptions } from '../runtime.ts'

/** Our view of the engine: the connection, found when first needed and again when lost, and the names of what is ours. */
export interface DockerEngine {
  connection(): Promise<DockerConnection>
  /** Forgets the connection, so that the next call searches again. */
  forgetConnection(): void
  /** Our network; containers on it reach the internet and are reached from the host, but not one another. */
  ensureNetwork(): Promise<string>
  /** Starts a container; makes our network anew when someone has pruned it since. */
  startContainer(container: Docker.Container): Promise<void>
  /** Work that nobody waits for, but the end of the driver and the discarding of a deployment. */
  runInBackground(job: Promise<void>): void
  waitForBackground(): Promise<void>
  /** The network on which the containers of a project reach its database; there is one only if there is a database. */
  getDatabaseNetworkName(projectId: string): string
  /** Connects a container that has not started yet to the database of its project, if there is one. */
  connectToDatabase(container: Docker.Container, projectId: string): Promise<void>
  createLabels(role: DockerRole, extra?: { project_id?: string; deployment_id?: string; [label: string]: string | undefined }): Record<string, string>
  /** Filters that name only what is ours. */
  createOwnFilters(extra?: Record<string, string>): { label: string[] }
  getImageName(projectId: string, deploymentId: string): string
  /** Whether a tag is one that we gave. */
  isOwnTag(tag: string): boolean
  /** By what an image with our labels is to be removed: our own tags, or its id where it has none at all. What others tagged stays. */
  getOwnImageNames(image: { Id: string; RepoTags?: string[] | null }): string[]
  /** Without a tag it may as well be what somebody built from an image of ours: it inherits all labels. */
  isPossiblyDerived(image: { RepoTags?: string[] | null; Labels?: Record<string, string> | null }): boolean
  /** What others run from an image of ours inherits its labels, but for the role. */
  isOwnContainer(createLabels: Record<string, string>): boolean
  createName(...parts: string[]): string
  options: RuntimeOptions
}

export type DockerRole = 'app' | 'build' | 'image' | 'dependencies' | 'cache' | 'network' | 'database'

export function createDockerEngine(options: RuntimeOptions): DockerEngine {
  const shortId =
    options.instance_id
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'local'
  let connecting: Promise<DockerConnection> | undefined
  let network: Promise<string> | undefined
  const backgroundJobs = new Set<Promise<void>>()
  /** The engine of this run. Our containers are there: one that goes away is waited for, and never replaced by another. */
  let chosenAddress: string | undefined

  const findEngine = async (): Promise<DockerConnection> => {
    const found = await connectToDocker(chosenAddress === undefined ? await findDockerAddresses(options.docker) : [chosenAddress])
    if ('docker' in found) {
      chosenAddress = found.candidate
      return found
    }
    options.log.info('docker_not_found', { tried: found.tried })
    throw new BuildFailure(
      'runtime_unavailable',
      'No Docker engine answers.',
      'Install Docker and start it; `homeport doctor` shows where it was looked for.',
    )
  }
  const connection = () =>
    (connecting ??= findEngine().catch((error: unknown) => {
      connecting = undefined
      throw error
    }))

  const createNetwork = async (): Promise<string> => {
    const { docker } = await connection()
    const name = `homeport-${shortId}`
    try {
      await docker.createNetwork({
        Name: name,
        CheckDuplicate: true,
        Driver: 'bridge',
        Options: { 'com.docker.network.bridge.enable_icc': 'false' },
        Labels: engine.createLabels('network'),
      })
    } catch (error) {
      // 409: it is there already.
      if (getStatusCode(error) !== 409) throw error
    }
    return name
  }

  const engine: DockerEngine = {
    options,
    connection,
    forgetConnection() {
      connecting = undefined
      network = undefined
    },
    ensureNetwork: () =>
      (network ??= createNetwork().catch((error: unknown) => {
        network = undefined
        throw error
      })),
    runInBackground(job) {
      const tracked = job
        .catch((error: unknown) => options.log.warn('docker_clean_up_failed', { error }))
        .finally(() => backgroundJobs.delete(tracked))
      backgroundJobs.add(tracked)
    },
    async waitForBackground() {
      await Promise.all(backgroundJobs)
    },
    async startContainer(container) {
      try {
        await container.start()
      } catch (error) {
        if (!/network .*not found/.test(String(error))) throw error
        network = undefined
        await engine.ensureNetwork()
        await container.start()
      }
    },
    getDatabaseNetworkName: (projectId) => engine.createName('databases', projectId),
    async connectToDatabase(container, projectId) {
      const { docker } = await connection()
      const network = docker.getNetwork(engine.getDatabaseNetworkName(projectId))
      // Asked first: a container that does not run is connected to a network that is not there, and then cannot start.
      const exists = await network.inspect().then(
        () => true,
        (error: unknown) => (getStatusCode(error) === 404 ? false : Promise.reject(error)),
      )
      if (exists) await network.connect({ Container: container.id })
    },
    createLabels(role, { project_id, deployment_id, ...extra } = {}) {
      const labels = {
        'homeport.instance': options.instance_id,
        'homeport.role': role,
        'homeport.project': project_id,
        'homeport.deployment': deployment_id,
        ...extra,
      }
      return Object.fromEntries(Object.entries(labels).filter((pair): pair is [string, string] => pair[1] !== undefined))
    },
    createOwnFilters: (extra = {}) => ({
      label: Object.entries({ 'homeport.instance': options.instance_id, ...extra }).map(([key, value]) => `${key}=${value}`),
    }),
    getImageName: (projectId, deploymentId) => `homeport-${shortId}/${sanitizeName(projectId)}:${sanitizeName(deploymentId)}`,
    isOwnTag: (tag) => tag.startsWith(`homeport-${shortId}/`) || tag.startsWith(`homeport-${shortId}-host-files:`),
    getOwnImageNames({ Id, RepoTags }) {
      const tags = (RepoTags ?? []).filter((tag) => tag !== '<none>:<none>')
      return tags.length === 0 ? [Id] : tags.filter(engine.isOwnTag)
    },
    isPossiblyDerived: ({ RepoTags, Labels }) => Labels?.['homeport.role'] === 'image' && (RepoTags ?? []).every((tag) => tag === '<none>:<none>'),
    isOwnContainer: (labels) =>
      labels['homeport.instance'] === options.instance_id && (labels['homeport.role'] === 'app' || labels['homeport.role'] === 'build'),
    createName: (...parts) => ['homeport', shortId, ...parts.map(sanitizeName)].join('-'),
  }
  return engine
}

/** Ids as the engine allows them in names. */
const sanitizeName = (id: string): string => id.toLowerCase().replace(/[^a-z0-9._-]/g, '-')

/** dockerode tells streams by loose types; what comes is a socket or an answer of Node's own. */
export function toReadable(stream: unknown): Readable {
  if (stream instanceof Readable) return stream
  throw new Error('The engine answered without a stream.')
}

export function getStatusCode(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** Whether an error says that the engine can't be reached, rather than that it refuses. */
export const isConnectionError = (error: unknown): boolean =>
  getStatusCode(error) === undefined &&
  error instanceof Error &&
  /ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|socket hang up|No answer within/.test(`${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`)

/** Removes a container at once, with the volumes that have no name and were made for it alone; none of that name is no error. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await container.remove({ force: true, v: true })
      return
    } catch (error) {
      const status = getStatusCode(error)
      if (status === 404) return
      // 409: another removal is under way; it is gone when that is done.
      if (status !== 409 || attempt >= 20) throw error
      await sleep(systemClock, 100)
    }
  }
}
