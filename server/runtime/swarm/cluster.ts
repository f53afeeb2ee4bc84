import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import type { DockerConnection } from '../docker/connection.ts'
import { connectToDatabase, type DockerEngine } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import { ensureOverlayNetwork } from '../docker/networks.ts'
import { BuildFailure } from '../runtime.ts'

export interface SwarmConnection extends DockerConnection {
  swarm: NonNullable<DockerConnection['swarm']>
}

export interface SwarmNode {
  id: string
  name: string
  address: string
  role: 'manager' | 'worker'
  is_leader: boolean
  is_ready: boolean
  availability: 'active' | 'pause' | 'drain'
  labels: Record<string, string>
  cpus: number
  memory_mb: number
  engine_version: string | null
}

/**
 * The same engine, for the containers that the swarm runtime runs itself beside services: they are in networks of the swarm, publish their ports at the
 * private address of their node, and have a role of their own, so that the docker runtime does not take them for its leftovers.
 */
export function createClusterEngine(engine: DockerEngine): DockerEngine {
  const roles: Record<string, string> = { app: 'pinned', database: 'swarm-database' }
  const role = (name: string) => roles[name] ?? name
  const cluster: DockerEngine = {
    ...engine,
    createName(...parts) {
      if (parts[0]?.startsWith('databases')) return shortenName(engine.createName('swarm', ...parts))
      return parts[0] === 'services' ? shortenName(engine.createName(...parts)) : engine.createName(...parts)
    },
    getDatabaseNetworkName: (projectId) => cluster.createName('databases', projectId),
    connectToDatabase: (container, projectId) => connectToDatabase(cluster, container, projectId),
    async connection() {
      const { swarm, ...found } = await requireManager(engine)
      engine.options.docker?.assertLeading?.()
      return { ...found, swarm, hasDirectNetwork: false, publish_host: swarm.node_address }
    },
    createLabels: (name, more) => ({ ...engine.createLabels(name, more), 'homeport.role': role(name) }),
    createOwnFilters: (more = {}) =>
      engine.createOwnFilters({ ...more, ...(more['homeport.role'] && { 'homeport.role': role(more['homeport.role']) }) }),
    isOwnContainer: (labels) =>
      engine.isOwnContainer({ ...labels, ...(/^(pinned|task)$/.test(labels['homeport.role'] ?? '') && { 'homeport.role': 'app' }) }),
    createPrivateNetwork: ensureOverlayNetwork,
  }
  return cluster
}

/** A swarm takes names of at most 63 characters. */
const shortenName = (name: string): string =>
  name.length <= 63 ? name : `${name.slice(0, 50)}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`

/** The connection to an engine that manages a swarm. */
export async function requireManager(engine: DockerEngine): Promise<SwarmConnection> {
  const { swarm, ...found } = await engine.connection()
  if (swarm) return { ...found, swarm }
  // It may become one: it starts, or is promoted.
  if (found.isInSwarm) engine.forgetConnection()
  throw new BuildFailure(
    'runtime_unavailable',
    'This Docker engine is not a manager of a swarm.',
    'Run homeport node init on this machine, or join it as a manager, then restart Homeport (homeport help cluster).',
  )
}

/** dockerode has no type for it. */
export interface RawNode {
  ID: string
  Description?: { Hostname?: string; Resources?: { NanoCPUs?: number; MemoryBytes?: number }; Engine?: { EngineVersion?: string } }
  Status?: { State?: string; Addr?: string }
  Spec?: { Role?: string; Availability?: string; Labels?: Record<string, string> }
  ManagerStatus?: { Leader?: boolean; Addr?: string }
}

/** The nodes of the swarm, by name. */
export async function listNodes(docker: Docker, { node_id, node_address }: SwarmConnection['swarm']): Promise<SwarmNode[]> {
  const nodes = (await docker.listNodes()) as RawNode[]
  const described = nodes.map(({ ID, Description, Status, Spec, ManagerStatus }): SwarmNode => ({
    id: ID,
    name: Description?.Hostname ?? ID,
    // A manager may know no better address of itself than that of all its interfaces.
    address: ID === node_id ? node_address : (Status?.Addr ?? ''),
    role: Spec?.Role === 'manager' ? 'manager' : 'worker',
    is_leader: ManagerStatus?.Leader === true,
    is_ready: Status?.State === 'ready',
    availability: Spec?.Availability === 'pause' || Spec?.Availability === 'drain' ? Spec.Availability : 'active',
    labels: Spec?.Labels ?? {},
    cpus: (Description?.Resources?.NanoCPUs ?? 0) / 1e9,
    memory_mb: Math.round((Description?.Resources?.MemoryBytes ?? 0) / 2 ** 20),
    engine_version: Description?.Engine?.EngineVersion ?? null,
  }))
  return described.sort((a, b) => a.name.localeCompare(b.name))
}

export const canTakeTasks = ({ is_ready, availability }: SwarmNode): boolean => is_ready && availability === 'active'

/** Labels as `key=value`. */
export const hasLabels = ({ labels }: Pick<SwarmNode, 'labels'>, wanted: readonly string[]): boolean =>
  wanted.every((label) => labels[label.slice(0, label.indexOf('='))] === label.slice(label.indexOf('=') + 1))

export const formatLabelConstraint = (label: string): string => `node.labels.${label.replace('=', '==')}`
/** The label of a constraint; undefined for one of another kind. */
export const parseLabelConstraint = (constraint: string): string | undefined => /^node\.labels\.([^=]+)==(.*)$/.exec(constraint)?.slice(1).join('=')

/** 503 and 500 with these words: a manager that cannot reach most others, or whose leader is gone or so new that it does not lead yet. */
export const isWithoutLeader = (error: unknown): boolean =>
  (getStatusCode(error) ?? 0) >= 500 &&
  /does not have a leader|lost leader status|code = Unavailable|deadline ?exceeded|lost quorum/i.test(String(error))
