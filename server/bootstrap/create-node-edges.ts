import { sleep } from '../lib/clock.ts'
import type { ClosedPort, NodeEdgeStatus } from '../edge/nodes/node-link.ts'
import { isLoopbackHost } from '../options.ts'
import type { EdgeWorkers } from '../edge/workers/edge-workers.ts'
import type { Lease } from '../maintenance/standby/lease.ts'
import type { NodeEdgeEndpoint, RuntimeNodes } from '../runtime/nodes.ts'
import type { PlatformContext } from './context.ts'
import { readEdgeProgram } from './read-edge-program.ts'

const interval_ms = 5_000
/** An edge that restarts is noticed within the first, and holds back the next one for the second at most. */
const restart_ms = { least: 15_000, most: 60_000 }

type NodeEdgeContext = Pick<PlatformContext, 'clock' | 'log' | 'onClose'> & { options: Pick<PlatformContext['options'], 'host' | 'edge_worker_path'> }

export type NodeEdges = ReturnType<typeof createNodeEdges>

/**
 * Runs the edge on every other node of the cluster and leads it. Only where visitors can come from other machines: an edge that listens on loopback has
 * none, and on other nodes would be of no use.
 */
export function createNodeEdges(
  { options, clock, log, onClose }: NodeEdgeContext,
  { nodes, lease }: { nodes: Pick<RuntimeNodes, 'applyEdges'> | undefined; lease: Pick<Lease, 'epoch'> | undefined },
  { plain, secure, workers }: { plain: { port: number }; secure: { port: number }; workers: Pick<EdgeWorkers, 'addNode'> | undefined },
) {
  const led = new Map<string, { endpoint: NodeEdgeEndpoint & { epoch: number } } & ReturnType<EdgeWorkers['addNode']>>()
  const closing = new AbortController()
  let isFailing = false
  /** By the monotonic clock; the start counts as one, because nothing is known of the edges yet. */
  let updatedAt = 0

  /** Whether an edge may restart now; then the next one waits for it. Each restarts once the others serve. */
  const claimRestart = (): boolean => {
    const elapsed_ms = clock.monotonic() - updatedAt
    const areServing = [...led.values()].map(({ getStatus }) => getStatus()).every((one) => one.is_connected && one.problem === null)
    if (elapsed_ms < (areServing ? restart_ms.least : restart_ms.most)) return false
    updatedAt = clock.monotonic()
    return true
  }

  const readEpoch = (): number => lease?.epoch() ?? 0

  const follow = (endpoints: NodeEdgeEndpoint[], leader: NonNullable<typeof workers>): void => {
    for (const [id, { endpoint, release }] of led) {
      const next = endpoints.find(({ node_id }) => node_id === id)
      if (next?.host === endpoint.host) {
        // The next connection uses the new certificate, and the epoch of a lease that could not be read before.
        Object.assign(endpoint, { tls: next.tls, epoch: readEpoch() })
        continue
      }
      release()
      led.delete(id)
    }
    for (const found of endpoints) {
      if (led.has(found.node_id)) continue
      const endpoint = { ...found, epoch: readEpoch() }
      const address = isAny(options.host) ? options.host : endpoint.host
      led.set(endpoint.node_id, { endpoint, ...leader.addNode(endpoint, { address, port: plain.port, https_port: secure.port }) })
    }
  }

  const run = async (manager: NonNullable<typeof nodes>, leader: NonNullable<typeof workers>): Promise<void> => {
    updatedAt = clock.monotonic()
    const program = isLoopbackHost(options.host) ? undefined : await readEdgeProgram(options.edge_worker_path)
    while (!closing.signal.aborted) {
      try {
        follow(await manager.applyEdges(program ?? null, claimRestart), leader)
        isFailing = false
      } catch (error) {
        if (!isFailing) log.warn('node_edges_not_applied', { error })
        isFailing = true
      }
      await sleep(clock, interval_ms, closing.signal).catch(() => {})
    }
  }

  return {
    /** `recovered`: when the apps of the cluster have their routes. Until then the edges of other nodes serve on with those that they have. */
    start(recovered: Promise<void>): void {
      if (!nodes || !workers) return
      let running: Promise<void> | undefined
      void recovered.then(() => {
        if (!closing.signal.aborted) running = run(nodes, workers)
      })
      onClose(async () => {
        closing.abort()
        await running
      })
    },
    /** Tried now, by those of the other nodes whose edges follow. */
    async findClosedPorts(): Promise<ClosedPort[]> {
      const all = [...led.values()].map(({ endpoint: { node, host, open_port: port } }) => ({ node, host, port }))
      const found = [...led.values()].map(async ({ endpoint: { node }, findClosed }) => {
        const closed = await findClosed(all.filter((other) => other.node !== node).map(({ host, port }) => ({ host, port })))
        return all.flatMap((to) => (closed?.some(({ host }) => host === to.host) ? [{ from: node, to }] : []))
      })
      return (await Promise.all(found)).flat()
    },
    /** The edges of other nodes, by the id of the node. */
    listStatuses: (): ReadonlyMap<string, NodeEdgeStatus> => new Map([...led].map(([id, { getStatus }]) => [id, getStatus()])),
  }
}

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'
