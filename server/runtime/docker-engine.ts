import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { sleep, systemClock } from '../lib/clock.ts'
import { connect, findCandidates, type Connection } from './docker-connect.ts'
import { BuildFailure, type RuntimeOptions } from './runtime.ts'

/** Our view of the engine: the connection, found when first needed and again when lost, and the names of what is ours. */
export interface Engine {
  connection(): Promise<Connection>
  /** Forgets the connection, so that the next call searches again. */
  lost(): void
  /** Our network; containers on it reach the internet and are reached from the host, but not one another. */
  network(): Promise<string>
  /** Starts a container; makes our network anew when someone has pruned it since. */
  startContainer(container: Docker.Container): Promise<void>
  /** Work that nobody waits for, but the end of the driver and the discarding of a deployment. */
  background(job: Promise<void>): void
  settled(): Promise<void>
  /** The network on which the containers of a project reach its database; there is one only if there is a database. */
  databaseNetwork(projectId: string): string
  /** Connects a container that has not started yet to the database of its project, if there is one. */
  joinDatabase(container: Docker.Container, projectId: string): Promise<void>
  labels(role: Role, more?: { project_id?: string; deployment_id?: string; [label: string]: string | undefined }): Record<string, string>
  /** Filters that name only what is ours. */
  ours(more?: Record<string, string>): { label: string[] }
  imageName(projectId: string, deploymentId: string): string
  /** Whether a tag is one that we gave. */
  isOurName(tag: string): boolean
  /** By what an image with our labels is to be removed: our own tags, or its id where it has none at all. What others tagged stays. */
  ourNames(image: { Id: string; RepoTags?: string[] | null }): string[]
  /** Without a tag it may as well be what somebody built from an image of ours: it inherits all labels. */
  mayBeBuiltFrom(image: { RepoTags?: string[] | null; Labels?: Record<string, string> | null }): boolean
  /** What others run from an image of ours inherits its labels, but for the role. */
  isOurContainer(labels: Record<string, string>): boolean
  name(...parts: string[]): string
  options: RuntimeOptions
}

export type Role = 'app' | 'build' | 'image' | 'dependencies' | 'cache' | 'network' | 'database'

export function createEngine(options: RuntimeOptions): Engine {
  const short =
    options.instance_id
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'local'
  let connecting: Promise<Connection> | undefined
  let network: Promise<string> | undefined
  const jobs = new Set<Promise<void>>()
  /** The engine of this run. Our containers are there: one that goes away is waited for, and never replaced by another. */
  let chosen: string | undefined

  const search = async (): Promise<Connection> => {
    const found = await connect(chosen === undefined ? await findCandidates(options.docker) : [chosen])
    if ('docker' in found) {
      chosen = found.candidate
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
    (connecting ??= search().catch((error: unknown) => {
      connecting = undefined
      throw error
    }))

  const makeNetwork = async (): Promise<string> => {
    const { docker } = await connection()
    const name = `homeport-${short}`
    try {
      await docker.createNetwork({
        Name: name,
        CheckDuplicate: true,
        Driver: 'bridge',
        Options: { 'com.docker.network.bridge.enable_icc': 'false' },
        Labels: engine.labels('network'),
      })
    } catch (error) {
      // 409: it is there already.
      if (statusOf(error) !== 409) throw error
    }
    return name
  }

  const engine: Engine = {
    options,
    connection,
    lost() {
      connecting = undefined
      network = undefined
    },
    network: () =>
      (network ??= makeNetwork().catch((error: unknown) => {
        network = undefined
        throw error
      })),
    background(job) {
      const quiet = job.catch((error: unknown) => options.log.warn('docker_clean_up_failed', { error })).finally(() => jobs.delete(quiet))
      jobs.add(quiet)
    },
    async settled() {
      await Promise.all(jobs)
    },
    async startContainer(container) {
      try {
        await container.start()
      } catch (error) {
        if (!/network .*not found/.test(String(error))) throw error
        network = undefined
        await engine.network()
        await container.start()
      }
    },
    databaseNetwork: (projectId) => engine.name('databases', projectId),
    async joinDatabase(container, projectId) {
      const { docker } = await connection()
      const network = docker.getNetwork(engine.databaseNetwork(projectId))
      // Asked first: a container that does not run is connected to a network that is not there, and then cannot start.
      const isThere = await network.inspect().then(
        () => true,
        (error: unknown) => (statusOf(error) === 404 ? false : Promise.reject(error)),
      )
      if (isThere) await network.connect({ Container: container.id })
    },
    labels(role, { project_id, deployment_id, ...more } = {}) {
      const all = {
        'homeport.instance': options.instance_id,
        'homeport.role': role,
        'homeport.project': project_id,
        'homeport.deployment': deployment_id,
        ...more,
      }
      return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined))
    },
    ours: (more = {}) => ({ label: Object.entries({ 'homeport.instance': options.instance_id, ...more }).map(([key, value]) => `${key}=${value}`) }),
    imageName: (projectId, deploymentId) => `homeport-${short}/${namePart(projectId)}:${namePart(deploymentId)}`,
    isOurName: (tag) => tag.startsWith(`homeport-${short}/`) || tag.startsWith(`homeport-${short}-host-files:`),
    ourNames({ Id, RepoTags }) {
      const tags = (RepoTags ?? []).filter((tag) => tag !== '<none>:<none>')
      return tags.length === 0 ? [Id] : tags.filter(engine.isOurName)
    },
    mayBeBuiltFrom: ({ RepoTags, Labels }) => Labels?.['homeport.role'] === 'image' && (RepoTags ?? []).every((tag) => tag === '<none>:<none>'),
    isOurContainer: (labels) =>
      labels['homeport.instance'] === options.instance_id && (labels['homeport.role'] === 'app' || labels['homeport.role'] === 'build'),
    name: (...parts) => ['homeport', short, ...parts.map(namePart)].join('-'),
  }
  return engine
}

/** Ids as the engine allows them in names. */
const namePart = (id: string): string => id.toLowerCase().replace(/[^a-z0-9._-]/g, '-')

/** dockerode tells streams by loose types; what comes is a socket or an answer of Node's own. */
export function readable(stream: unknown): Readable {
  if (stream instanceof Readable) return stream
  throw new Error('The engine answered without a stream.')
}

export function statusOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** Whether an error says that the engine can't be reached, rather than that it refuses. */
export const isConnectionError = (error: unknown): boolean =>
  statusOf(error) === undefined &&
  error instanceof Error &&
  /ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|socket hang up|No answer within/.test(`${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`)

/** Removes a container at once, with the volumes that have no name and were made for it alone; none of that name is no error. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await container.remove({ force: true, v: true })
      return
    } catch (error) {
      const status = statusOf(error)
      if (status === 404) return
      // 409: another removal is under way; it is gone when that is done.
      if (status !== 409 || attempt >= 20) throw error
      await sleep(systemClock, 100)
    }
  }
}
