import { checkServerIdentity, type ConnectionOptions } from 'node:tls'
import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { loadDockerode } from '../docker/load-dockerode.ts'
import { agentProgram } from './agent-program.ts'
import { agentName, createAgentCertificate, createClientCertificate, type ClusterIdentity } from './cluster-identity.ts'
import { listNodes, requireManager } from './cluster.ts'
import { applyNodeService } from './node-service.ts'
import { hasEnded, isUnwanted, listTasks } from './tasks.ts'
import type { ClusterRegistry } from './cluster-registry.ts'
import type { SharedImages } from './shared-images.ts'

const port = 7443
const day_ms = 86_400_000
const check_ms = 3600_000
const retry_ms = 60_000
const connectTimeout_ms = 3_000
const silence_ms = 60_000
/** For how long a task is known to be the agent of its node. */
const known_ms = 10_000

/**
 * A small program on each other node, as a service of the swarm, through which Homeport reaches the containers of its apps there: figures, pausing, commands,
 * health checks and written files, and the removal of images. Without it these are missing, and nothing else.
 */
export interface NodeAgents {
  /** The engine of a node as far as its agent allows; that of this node whole. Undefined where no agent answers. */
  connect(nodeId: string): Promise<Docker | undefined>
  /** By how many milliseconds the clock of another node is ahead of that of this one. Undefined where no agent answers. */
  measureClock(nodeId: string): Promise<number | undefined>
  /** Starts the agents, or renews them, in the background. */
  ensure(): void
  /** Removes an image of an app from all other nodes, by a name with its digest. */
  removeImages(names: string[]): Promise<void>
  /** Removes all images of apps from other nodes but these, such as what was removed while a node was down. */
  pruneImages(kept: ReadonlySet<string>): Promise<void>
}

export function createNodeAgents(
  engine: DockerEngine,
  { registry, images, readIdentity }: { registry: ClusterRegistry; images: SharedImages; readIdentity: () => Promise<ClusterIdentity> },
): NodeAgents {
  const { clock = systemClock, log, instance_id } = engine.options
  const labels = { 'homeport.role': 'agent' }
  const clients = new Map<string, { task_id: string; docker: Docker; until: number; checked_at: number }>()
  let nextCheck = -Infinity

  /** False: there is no other node yet. */
  const start = async (): Promise<boolean> => {
    const { docker, swarm } = await requireManager(engine)
    if ((await listNodes(docker, swarm)).length < 2) return false
    const name = engine.createName('agent')
    const change = await applyNodeService(
      engine,
      { images, readIdentity },
      {
        role: 'agent',
        name,
        version: [agentProgram, swarm.node_id].join('\n'),
        createCertificate: createAgentCertificate,
        createSecret: ({ certificate: cert, key }, { authority }) => JSON.stringify({ cert, key, ca: authority.certificate }),
        createSpec: async () => ({
          container: {
            Command: ['node', '--max-old-space-size=32', '-e', agentProgram],
            Env: [`HOMEPORT_INSTANCE=${instance_id}`, `HOMEPORT_IMAGES=${await registry.getPrefix()}/${engine.createName()}`],
            Mounts: [{ Type: 'bind', Source: engine.options.docker?.node_socket ?? '/var/run/docker.sock', Target: '/var/run/docker.sock' }],
          },
          resources: { Limits: { MemoryBytes: 128 * 1024 * 1024, NanoCPUs: 5e8, Pids: 64 }, Reservations: { MemoryBytes: 32 * 1024 * 1024 } },
          networks: [await createNetwork(docker, name)],
          constraint: `node.id!=${swarm.node_id}`,
          is_global: true,
          ports: [port],
        }),
      },
    )
    if (change) log.info('node_agents_started')
    return true
  }

  /** A service without a network of its own would publish its port at all addresses. */
  const createNetwork = async (docker: Docker, name: string): Promise<string> => {
    await engine.createPrivateNetwork(docker, { Name: name, Internal: false, Labels: engine.createLabels('network') })
    const { Id }: { Id: string } = await docker.getNetwork(name).inspect()
    return Id
  }

  const ensure = (): void => {
    if (clock.monotonic() < nextCheck) return
    nextCheck = clock.monotonic() + check_ms
    const check = start().catch((error: unknown) => {
      log.warn('node_agents_not_started', { error })
      return false
    })
    engine.runInBackground(
      check.then((isStarted) => {
        if (!isStarted) nextCheck = clock.monotonic() + retry_ms
      }),
    )
  }

  const createClient = async (host: string, clientPort: number): Promise<Docker> => {
    const identity = await readIdentity()
    const { certificate: cert, key } = createClientCertificate(identity, clock.now())
    const DockerClient = await loadDockerode()
    // dockerode passes them on, but has no types for two of them.
    const options: Docker.DockerOptions & Pick<ConnectionOptions, 'checkServerIdentity'> & { connectionTimeout: number } = {
      protocol: 'https',
      host,
      port: clientPort,
      ca: identity.authority.certificate,
      cert,
      key,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(agentName, certificate),
      connectionTimeout: connectTimeout_ms,
      timeout: silence_ms,
    }
    return new DockerClient(options)
  }

  const connect = async (nodeId: string): Promise<Docker | undefined> => {
    const manager = await requireManager(engine)
    if (nodeId === manager.swarm.node_id) return manager.docker
    ensure()
    const now = clock.monotonic()
    const known = clients.get(nodeId)
    if (known && now - known.checked_at < known_ms) return known.docker
    const [nodes, tasks] = await Promise.all([listNodes(manager.docker, manager.swarm), listTasks(manager.docker, engine.createOwnFilters(labels))])
    const node = nodes.find(({ id }) => id === nodeId)
    const task = tasks.findLast((one) => one.node_id === nodeId && one.state === 'running' && !hasEnded(one) && !isUnwanted(one))
    const published = task?.ports.find(({ target }) => target === port)?.published
    if (!node?.is_ready || !task || published === undefined) {
      clients.delete(nodeId)
      return undefined
    }
    const isSame = known?.task_id === task.id && known.until > now
    const docker = isSame ? known.docker : await createClient(node.address, published)
    clients.set(nodeId, { task_id: task.id, docker, until: isSame ? known.until : now + day_ms, checked_at: now })
    return docker
  }

  /** Where an agent answers. */
  const onOtherNodes = async (work: (remote: Docker) => Promise<void>): Promise<void> => {
    const { docker, swarm } = await requireManager(engine)
    for (const { id } of await listNodes(docker, swarm)) {
      const remote = id === swarm.node_id ? undefined : await connect(id)
      if (remote) await work(remote)
    }
  }

  return {
    connect,
    async measureClock(nodeId) {
      const docker = await connect(nodeId)
      if (!docker) return undefined
      const before = systemClock.now()
      const answer = await ask<{ now: number }>(docker, '/clock')
      return answer && answer.now - (before + systemClock.now()) / 2
    },
    ensure,
    async removeImages(names) {
      if (names.length > 0) await onOtherNodes((remote) => removeFrom(remote, names))
    },
    async pruneImages(kept) {
      await onOtherNodes(async (remote) => {
        const found = await ask<string[]>(remote, '/own-images')
        await removeFrom(remote, found?.filter((name) => !kept.has(name)) ?? [])
      })
    },
  }
}

/** A question that the agent itself answers. Undefined where it does not, such as one of an earlier version. */
const ask = <T>(docker: Docker, path: string): Promise<T | undefined> =>
  new Promise((resolve) =>
    docker.modem.dial({ path, method: 'GET', statusCodes: { 200: true } }, (error, data) => resolve(error ? undefined : (data as T))),
  )

async function removeFrom(docker: Docker, names: string[]): Promise<void> {
  for (const name of names)
    await docker
      .getImage(name)
      // Also with a container that has ended.
      .remove({ force: true })
      .catch(() => {})
}
