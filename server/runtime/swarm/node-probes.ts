import { systemClock } from '../../lib/clock.ts'
import { tryPort } from '../../lib/try-port.ts'
import { rejectAfter } from '../docker/connection.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { listNodes, requireManager } from './cluster.ts'

/** The port at which every node of a swarm listens for the others. */
export const gossipPort = 7946
/** Less than a second, so that a call each half second probes at every other one. */
const leastInterval_ms = 750
const timeout_ms = 1_000
/** So many probes in a row without an answer make a node silent, so that one late answer does not. */
const missedProbes = 3
const listing = { interval_ms: 10_000, timeout_ms: 10_000 }

/**
 * Finds nodes whose machine is gone, before the swarm reports it: that takes three heartbeats (15 s by default), and after a change of leader six.
 * Shorter heartbeats are no way out, because the agents of a swarm wait for up to 8 s before they connect to a new leader again: it would take nodes
 * for lost that are well, and end all their tasks.
 */
export interface NodeProbes {
  /** Probes the nodes in the background, unless that was done within the last 750 ms. */
  refresh(): void
  /**
   * Whether a node has answered before and does not any more. A refused connection is an answer: its machine is there, and the swarm hears of its tasks.
   * A node that has never answered may be behind a firewall. If all of several nodes are silent at once, the network of this machine is the likely cause, and
   * it is left to the swarm which are lost.
   */
  isSilent(nodeId: string): boolean
}

/** The real clock, because the nodes are other machines. */
export function createNodeProbes(
  engine: DockerEngine,
  { tryHost = (host: string) => tryPort(host, gossipPort, timeout_ms), clock = systemClock } = {},
): NodeProbes {
  const { log } = engine.options
  /** The probes in a row without an answer, of nodes that have answered before. */
  const missed = new Map<string, number>()
  let nodes: { id: string; name: string; address: string }[] = []
  let [listedAt, probedAt] = [-Infinity, -Infinity]

  const list = async () => {
    const { docker, swarm } = await requireManager(engine)
    nodes = (await listNodes(docker, swarm)).filter(({ id }) => id !== swarm.node_id)
    for (const id of missed.keys()) if (!nodes.some((node) => node.id === id)) missed.delete(id)
  }
  const isMissing = (count: number | undefined): boolean => (count ?? 0) >= missedProbes
  const probeNode = async ({ id, name, address }: (typeof nodes)[number]) => {
    const isAnswered = (await tryHost(address)) !== 'silent'
    // Read now, because another probe may have ended meanwhile.
    const before = missed.get(id)
    if (isAnswered) {
      if (isMissing(before)) log.info('swarm_node_answers', { node: name })
      missed.set(id, 0)
    } else if (before !== undefined) {
      if (before + 1 === missedProbes) log.warn('swarm_node_silent', { node: name })
      missed.set(id, before + 1)
    }
  }

  const areAllMissing = (): boolean => missed.size > 1 && [...missed.values()].every(isMissing)

  return {
    refresh() {
      const now = clock.monotonic()
      if (now - listedAt >= listing.interval_ms) {
        listedAt = now
        // Without a leader the swarm lists nothing, and the nodes stay the same.
        void rejectAfter(listing.timeout_ms, list()).catch(() => {})
      }
      if (now - probedAt < leastInterval_ms) return
      probedAt = now
      for (const node of nodes) void probeNode(node)
    },
    isSilent: (nodeId) => isMissing(missed.get(nodeId)) && !areAllMissing(),
  }
}
