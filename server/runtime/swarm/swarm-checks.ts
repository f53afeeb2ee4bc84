import type Docker from 'dockerode'
import type { DoctorCheck } from '../../contract/instance.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { tryPort } from '../../lib/try-port.ts'
import { BuildFailure } from '../runtime.ts'
import { canTakeTasks, listNodes, requireManager, type SwarmConnection, type SwarmNode } from './cluster.ts'
import type { ClusterRegistry } from './cluster-registry.ts'
import type { NodeAgents } from './node-agents.ts'
import { gossipPort } from './node-probes.ts'

/** Certificates of nodes are valid from an hour before, and cached responses by seconds. */
const maxClockSkew_ms = 2_000
const connectTimeout_ms = 2_000
/** With shorter ones a new leader can take nodes for lost whose agents still wait to connect again (node-probes.ts). */
const leastHeartbeat_s = 5

/** Checks of the swarm and its registry; none where there is no swarm. */
export async function checkSwarm(engine: DockerEngine, registry: ClusterRegistry, agents: Pick<NodeAgents, 'measureClock'>): Promise<DoctorCheck[]> {
  const manager = await requireManager(engine).catch(() => undefined)
  if (!manager) return []
  const nodes = await listNodes(manager.docker, manager.swarm).catch(() => undefined)
  if (!nodes)
    return [
      {
        name: 'swarm',
        status: 'failed',
        message: 'The swarm has no quorum: most of its managers do not answer. Running apps continue; nothing is deployed, woken or repaired.',
        hint: 'Start the managers again. If they are lost, run docker swarm init --force-new-cluster on this machine.',
      },
    ]
  return [
    checkNodes(nodes),
    ...(nodes.length > 1 ? await checkCluster(manager, nodes) : []),
    ...checkPortAddress(await findPortAddress(manager), manager.swarm.node_address),
  ]

  async function checkCluster({ docker, swarm }: SwarmConnection, all: SwarmNode[]): Promise<DoctorCheck[]> {
    const others = all.filter(({ id, is_ready }) => is_ready && id !== swarm.node_id)
    const [heartbeat, registryCheck, ports, programs] = await Promise.all([
      readHeartbeat(docker).then(checkHeartbeat),
      checkRegistry(registry),
      checkNodePorts(others),
      checkAgents(others.filter(canTakeTasks), agents, engine.createName('agent')),
    ])
    return [...heartbeat, registryCheck, ports, ...programs]
  }
}

/** In seconds. */
async function readHeartbeat(docker: Docker): Promise<number | undefined> {
  const found = (await docker.swarmInspect()) as { Spec?: { Dispatcher?: { HeartbeatPeriod?: number } } }
  const period_ns = found.Spec?.Dispatcher?.HeartbeatPeriod
  return period_ns === undefined ? undefined : period_ns / 1e9
}

export function checkHeartbeat(seconds: number | undefined): DoctorCheck[] {
  if (seconds === undefined || seconds >= leastHeartbeat_s) return []
  return [
    {
      name: 'swarm heartbeat',
      status: 'warning',
      message: `The heartbeat of the swarm is ${seconds} s. After a change of its leader it can take nodes for lost that are well, and end all apps there.`,
      hint: `Run docker swarm update --dispatcher-heartbeat ${leastHeartbeat_s}s on this machine.`,
    },
  ]
}

/** The ports of apps on a node are bound to the address with which the bridge of the swarm was created there. */
async function findPortAddress({ docker }: SwarmConnection): Promise<string | undefined> {
  const bridge: { Options?: Record<string, string> } | undefined = await docker
    .getNetwork('docker_gwbridge')
    .inspect()
    .catch(() => undefined)
  return bridge && (bridge.Options?.['com.docker.network.bridge.host_binding_ipv4'] ?? '0.0.0.0')
}

export function checkPortAddress(bound: string | undefined, node_address: string): DoctorCheck[] {
  if (bound === undefined || bound === node_address) return []
  return [
    {
      name: 'swarm ports',
      status: 'warning',
      message: `Ports of apps are open at ${bound === '0.0.0.0' ? 'all addresses of this machine' : bound} instead of ${node_address}, its address in the swarm.`,
      hint: 'Create the network docker_gwbridge with that address on each node, as homeport node join does (homeport help cluster).',
    },
  ]
}

function checkNodes(nodes: Awaited<ReturnType<typeof listNodes>>): DoctorCheck {
  const name = 'swarm'
  const [total, managers] = [nodes.length, nodes.filter(({ role }) => role === 'manager')]
  const ready = managers.filter(({ is_ready }) => is_ready).length
  const missing = nodes.filter(({ is_ready }) => !is_ready).map((node) => node.name)
  const summary = `${total} ${total === 1 ? 'node' : 'nodes'}, ${ready} of ${managers.length} managers ready`
  const spare = ready - (Math.floor(managers.length / 2) + 1)
  if (missing.length > 0)
    return {
      name,
      status: 'warning',
      message: `${summary}. These nodes do not answer: ${missing.join(', ')}.`,
      hint: 'Start them, or remove them with homeport node remove.',
    }
  if (!nodes.some(canTakeTasks))
    return { name, status: 'failed', message: `${summary}. No node takes apps.`, hint: 'Activate one with homeport node activate.' }
  if (total > 1 && spare < 1)
    return {
      name,
      status: 'warning',
      message: `${summary}. If one more manager stops, nothing is deployed or repaired.`,
      hint: 'Use three managers: homeport node token --manager prints how a machine joins as one.',
    }
  return { name, status: 'ok', message: `${summary}.`, hint: null }
}

async function checkRegistry(registry: ClusterRegistry): Promise<DoctorCheck> {
  const name = 'swarm registry'
  try {
    await registry.check()
    return { name, status: 'ok', message: `The nodes pull images from ${await registry.getHost()}.`, hint: null }
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    return { name, status: 'failed', message: error.message, hint: error.hint }
  }
}

async function checkAgents(nodes: SwarmNode[], agents: Pick<NodeAgents, 'measureClock'>, service: string): Promise<DoctorCheck[]> {
  const name = 'swarm agents'
  const measured = await Promise.all(
    nodes.map(async (node) => ({ node: node.name, ahead_ms: await agents.measureClock(node.id).catch(() => undefined) })),
  )
  const silent = measured.filter(({ ahead_ms }) => ahead_ms === undefined).map(({ node }) => node)
  const clocks = checkClocks(measured.flatMap(({ node, ahead_ms }) => (ahead_ms === undefined ? [] : [{ node, ahead_ms }])))
  if (silent.length === 0) return [{ name, status: 'ok', message: 'The agents of all nodes answer.', hint: null }, ...clocks]
  return [
    {
      name,
      status: 'warning',
      message: `The agents of these nodes do not answer: ${silent.join(', ')}. Replicas there show no use, and are stopped instead of frozen when they sleep.`,
      hint: `They start with the first deployment. Later, docker service ps --no-trunc ${service} shows why one does not run.`,
    },
    ...clocks,
  ]
}

/** Logs, cached responses and certificates go by the clock of the node. */
export function checkClocks(measured: { node: string; ahead_ms: number }[]): DoctorCheck[] {
  const name = 'swarm clocks'
  if (measured.length === 0) return []
  const wrong = measured.filter(({ ahead_ms }) => Math.abs(ahead_ms) > maxClockSkew_ms)
  if (wrong.length === 0) return [{ name, status: 'ok', message: 'The clocks of all nodes agree.', hint: null }]
  const list = wrong.map(({ node, ahead_ms }) => `${node} (${Math.abs(ahead_ms / 1_000).toFixed(1)} s ${ahead_ms > 0 ? 'ahead' : 'behind'})`)
  return [
    {
      name,
      status: 'warning',
      message: `The clocks of these nodes differ from that of this machine: ${list.join(', ')}. The order of log lines and the age of cached responses are wrong there.`,
      hint: 'Synchronize the clocks of all nodes, for example with systemd-timesyncd or chrony.',
    },
  ]
}

/** Whether this machine reaches what the nodes of a swarm use among each other. */
export async function checkNodePorts(
  nodes: Pick<SwarmNode, 'name' | 'address' | 'role'>[],
  ports = { gossip: gossipPort, manager: 2377 },
): Promise<DoctorCheck> {
  const name = 'swarm connections'
  const wanted = nodes.flatMap((node) => [ports.gossip, ...(node.role === 'manager' ? [ports.manager] : [])].map((port) => ({ node, port })))
  const found = await Promise.all(
    wanted.map(async (one) => ({ ...one, isOpen: (await tryPort(one.node.address, one.port, connectTimeout_ms)) === 'open' })),
  )
  const closed = found.filter(({ isOpen }) => !isOpen)
  if (closed.length === 0) return { name, status: 'ok', message: 'This machine reaches the other nodes.', hint: null }
  return {
    name,
    status: 'warning',
    message: `This machine cannot connect to ${closed.map(({ node, port }) => `port ${port} of ${node.name} (${node.address})`).join(', ')}.`,
    hint: 'Open the ports 2377 and 7946 (TCP), 7946 and 4789 (UDP) between the nodes (homeport help cluster).',
  }
}
