import { sleep } from '../lib/clock.ts'
import type { NodeEdgeStatus } from '../edge/nodes/node-link.ts'
import { isLoopbackHost } from '../options.ts'
import type { NodeEdgeEndpoint } from '../runtime/nodes.ts'
import type { PlatformContext } from './context.ts'
import { readEdgeProgram } from './read-edge-program.ts'
import type { PlatformEdge } from './start-edge.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

const interval_ms = 5_000

export type NodeEdges = ReturnType<typeof createNodeEdges>

/**
 * Runs the edge on every other node of the cluster and leads it. Only where visitors can come from other machines: an edge that listens on loopback has
 * none, and on other nodes would be of no use.
 */
export function createNodeEdges(context: PlatformContext, runtimes: PlatformRuntimes, { plain, secure, workers }: PlatformEdge) {
  const { options, clock, log, onClose } = context
  const { nodes } = runtimes.runtimes[runtimes.runtime.name]
  const led = new Map<string, { endpoint: NodeEdgeEndpoint & { epoch: number }; release(): void; getStatus(): NodeEdgeStatus }>()
  const closing = new AbortController()
  let isFailing = false

  const follow = (endpoints: NodeEdgeEndpoint[], leader: NonNullable<typeof workers>): void => {
    for (const [id, { endpoint, release }] of led) {
      const next = endpoints.find(({ node_id }) => node_id === id)
      if (next?.host === endpoint.host) {
        // The next connection uses the new certificate.
        endpoint.tls = next.tls
        continue
      }
      release()
      led.delete(id)
    }
    for (const found of endpoints) {
      if (led.has(found.node_id)) continue
      const endpoint = { ...found, epoch: runtimes.lease?.epoch() ?? 0 }
      const address = isAny(options.host) ? options.host : endpoint.host
      led.set(endpoint.node_id, { endpoint, ...leader.addNode(endpoint, { address, port: plain.port, https_port: secure.port }) })
    }
  }

  const run = async (manager: NonNullable<typeof nodes>, leader: NonNullable<typeof workers>): Promise<void> => {
    const program = isLoopbackHost(options.host) ? undefined : await readEdgeProgram(options.edge_worker_path)
    while (!closing.signal.aborted) {
      try {
        follow(await manager.applyEdges(program ?? null), leader)
        isFailing = false
      } catch (error) {
        if (!isFailing) log.warn('node_edges_not_applied', { error })
        isFailing = true
      }
      await sleep(clock, interval_ms, closing.signal).catch(() => {})
    }
  }

  return {
    /** Called once the edge has all routes, because other nodes then have no others. */
    start(): void {
      if (!nodes || !workers) return
      const running = run(nodes, workers)
      onClose(async () => {
        closing.abort()
        await running
      })
    },
    /** The edges of other nodes, by the id of the node. */
    listStatuses: (): ReadonlyMap<string, NodeEdgeStatus> => new Map([...led].map(([id, { getStatus }]) => [id, getStatus()])),
  }
}

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'
