import { homedir } from 'node:os'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { sleep, systemClock } from '../../lib/clock.ts'
import { connectToDocker, findDockerAddresses, type DockerConnection } from './connection.ts'
import { createDockerLogin, defaultConfigFolder, type DockerLogin } from './docker-login.ts'
import { getStatusCode } from './errors.ts'
import { BuildFailure, type RuntimeOptions } from '../runtime.ts'
import { ensureLargeNetwork, ensureSmallNetwork, type PrivateNetwork } from './networks.ts'
import { createPullOptions } from './registry-access.ts'

/** Access to Docker: the connection, opened at first use and reopened after a loss, and the names of this instance's resources. */
export interface DockerEngine {
  connection(): Promise<DockerConnection>
  /** Closes the connection, so that the next call searches again. */
  forgetConnection(): void
  network_name: string
  /** The network of this instance; its containers reach the internet and are reached from the host, but not each other. */
  ensureNetwork(): Promise<string>
  /** Starts a container; recreates the network if it was pruned. */
  startContainer(container: Docker.Container): Promise<void>
  /** Background work; only closing the runtime and discarding a deployment wait for it. */
  runInBackground(job: Promise<void>): void
  waitForBackground(): Promise<void>
  /** Creates a network of a few containers, unless it exists. */
  createPrivateNetwork(docker: Docker, network: PrivateNetwork): Promise<void>
  /** The network between the containers of a project and its database; exists only with a database. */
  getDatabaseNetworkName(projectId: string): string
  /** Connects a container that has not started yet to the database of its project, if there is one. */
  connectToDatabase(container: Docker.Container, projectId: string): Promise<void>
  createLabels(role: DockerRole, extra?: { project_id?: string; deployment_id?: string; [label: string]: string | undefined }): Record<string, string>
  /** Filters that match only resources of this instance. */
  createOwnFilters(extra?: Record<string, string>): { label: string[] }
  /** Each service of a deployment that is built has its own image. */
  getImageName(projectId: string, deploymentId: string, service?: string | null): string
  /** Whether this instance created the tag. */
  isOwnTag(tag: string): boolean
  /** Whether this is the image of a deployment, or of one of its services. */
  isImageOf(name: string, deploymentId: string): boolean
  /** The names by which to remove an image with this instance's labels: its own tags, or its id when it has no tags. Tags of others are kept. */
  getOwnImageNames(image: { Id: string; RepoTags?: string[] | null }): string[]
  /** An image without a tag may have been built by others from an image of this instance, because it inherits all labels. */
  isPossiblyDerived(image: { RepoTags?: string[] | null; Labels?: Record<string, string> | null }): boolean
  /** A container that others run from an image of this instance inherits its labels except the role. */
  isOwnContainer(createLabels: Record<string, string>): boolean
  createName(...parts: string[]): string
  /** The credentials that `docker login` has stored for this machine's user. */
  dockerLogin: DockerLogin
  /** Options for pulling an image that Homeport itself needs. */
  getPullOptions(image: string): Promise<{ authconfig?: Docker.AuthConfig }>
  options: RuntimeOptions
}

export type DockerRole =
  | 'agent'
  | 'edge'
  | 'lease'
  | 'registry'
  | 'app'
  | 'build'
  | 'image'
  | 'dependencies'
  | 'cache'
  | 'network'
  | 'volume'
  | 'database'

export function createDockerEngine(options: RuntimeOptions): DockerEngine {
  const shortId =
    options.instance_id
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'local'
  let connecting: Promise<DockerConnection> | undefined
  let network: Promise<string> | undefined
  const backgroundJobs = new Set<Promise<void>>()
  /** The engine of this run. It has this run's containers, so a lost engine is awaited and never replaced by another one. */
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
      'Docker is not available.',
      'Install and start Docker. Run `homeport doctor` to see the addresses that were tried.',
    )
  }
  const connection = () =>
    (connecting ??= findEngine().catch((error: unknown) => {
      connecting = undefined
      throw error
    }))

  const createNetwork = async (): Promise<string> => {
    const { docker } = await connection()
    const name = engine.network_name
    await ensureLargeNetwork(docker, {
      Name: name,
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
      Labels: engine.createLabels('network'),
    })
    return name
  }

  const { home = homedir(), config_dir = defaultConfigFolder(home), environment = {} } = options.docker ?? {}
  const engine: DockerEngine = {
    options,
    dockerLogin: createDockerLogin({ config_dir, home, path: options.path ?? '', environment }),
    getPullOptions: async (image) => (await createPullOptions(engine, { logins: [], uses_docker_login: true }, image)).options,
    connection,
    network_name: `homeport-${shortId}`,
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
        .catch((error: unknown) => options.log.warn('docker_cleanup_failed', { error }))
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
    createPrivateNetwork: ensureSmallNetwork,
    getDatabaseNetworkName: (projectId) => engine.createName('databases', projectId),
    connectToDatabase: (container, projectId) => connectToDatabase(engine, container, projectId),
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
    getImageName: (projectId, deploymentId, service) =>
      `homeport-${shortId}/${sanitizeName(projectId)}:${sanitizeName(service ? `${deploymentId}-${service}` : deploymentId)}`,
    isOwnTag: (tag) => tag.startsWith(`homeport-${shortId}/`) || tag.startsWith(`homeport-${shortId}-host-files:`),
    isImageOf(name, deploymentId) {
      const tag = engine.isOwnTag(name) ? (name.split(':')[1] ?? '') : ''
      const ofDeployment = sanitizeName(deploymentId)
      return tag === ofDeployment || tag.startsWith(`${ofDeployment}-`)
    },
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

export async function connectToDatabase(engine: DockerEngine, container: Docker.Container, projectId: string): Promise<void> {
  const { docker } = await engine.connection()
  const network = docker.getNetwork(engine.getDatabaseNetworkName(projectId))
  // Checked first, because a stopped container can be connected to a missing network and then cannot start.
  const exists = await network.inspect().then(
    () => true,
    (error: unknown) => (getStatusCode(error) === 404 ? false : Promise.reject(error)),
  )
  if (exists) await network.connect({ Container: container.id })
}

/** Converts an id to the characters that Docker allows in names. */
const sanitizeName = (id: string): string => id.toLowerCase().replace(/[^a-z0-9._-]/g, '-')

/** dockerode types streams loosely; the value is a socket or a Node response. */
export function toReadable(stream: unknown): Readable {
  if (stream instanceof Readable) return stream
  throw new Error('Docker returned no stream.')
}

/** Removes a container and its anonymous volumes; no error if it does not exist. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await container.remove({ force: true, v: true })
      return
    } catch (error) {
      const status = getStatusCode(error)
      if (status === 404) return
      // 409: another removal is in progress; the container is gone when that ends.
      if (status !== 409 || attempt >= 20) throw error
      await sleep(systemClock, 100)
    }
  }
}
