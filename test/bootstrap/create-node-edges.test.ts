import { expect, test } from 'vitest'
import { createNodeEdges } from '../../server/bootstrap/create-node-edges.ts'
import type { NodeEndpoint } from '../../server/edge/nodes/node-link.ts'
import { checkNodeEdges } from '../../server/features/doctor.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

/** The edges of a cluster with one other node, whose applications are counted. */
function createEdges() {
  const clock = createTestClock({ frozen_at: 0 })
  const closers: (() => unknown)[] = []
  const added: NodeEndpoint[] = []
  const tls = { ca: '', cert: '', key: '', servername: '' }
  const state = { applied: 0, epoch: 0, is_connected: true, updated_at: [] as number[], nodes: ['two'], closed: '' }
  const edges = createNodeEdges(
    { clock, log: silentLog, onClose: (close) => void closers.push(close), options: { host: '127.0.0.1', edge_worker_path: '' } },
    {
      nodes: {
        async applyEdges(_program, claimRestart) {
          state.applied++
          if (claimRestart()) state.updated_at.push(clock.monotonic())
          return state.nodes.map((node, index) => ({ node_id: node, node, host: `10.0.0.${index + 2}`, port: 7444, open_port: 7946, tls }))
        },
      },
      lease: { epoch: () => state.epoch },
    },
    {
      plain: { port: 80 },
      secure: { port: 443 },
      workers: {
        addNode(endpoint) {
          added.push(endpoint)
          return {
            getStatus: () => ({ node: endpoint.node, is_connected: state.is_connected, problem: null }),
            // The first node is of an earlier version.
            findClosed: async (addresses) => (endpoint.node === 'two' ? undefined : addresses.filter(({ host }) => host === state.closed)),
            release() {},
          }
        },
      },
    },
  )
  return { edges, clock, state, added, close: () => Promise.all(closers.map((close) => close())) }
}

test('edges of other nodes keep their routes until the apps of the cluster are recovered', async () => {
  const { edges, state, added, close } = createEdges()
  const recovered = Promise.withResolvers<void>()
  edges.start(recovered.promise)
  await new Promise(setImmediate)
  expect(state.applied).toBe(0)
  recovered.resolve()
  await until(() => (added.length === 1 ? true : undefined), { what: 'the edge to be led' })
  await close()
})

test('an edge hears the epoch of a lease that could not be read at the start', async () => {
  const { edges, clock, state, added, close } = createEdges()
  edges.start(Promise.resolve())
  await until(() => (added.length === 1 ? true : undefined), { what: 'the edge to be led' })
  expect(added[0]?.epoch).toBe(0)
  state.epoch = 7
  await until(
    async () => {
      await clock.advance(5_000)
      return state.applied > 1 && added[0]?.epoch === 7 ? true : undefined
    },
    { what: 'the new epoch' },
  )
  expect(added).toHaveLength(1)
  await close()
})

test('an edge restarts once the others serve, or after a minute', async () => {
  const { edges, clock, state, added, close } = createEdges()
  edges.start(Promise.resolve())
  await until(() => (added.length === 1 ? true : undefined), { what: 'the edge to be led' })
  const passUntil = async (end: number) => {
    while (clock.monotonic() < end) {
      const { applied } = state
      await clock.advance(5_000)
      await until(() => (state.applied > applied ? true : undefined), { what: 'the next round' })
    }
  }
  await passUntil(45_000)
  state.is_connected = false
  await passUntil(120_000)
  expect(state.updated_at).toEqual([15_000, 30_000, 45_000, 105_000])
  await close()
})

test('the doctor names nodes that cannot connect to each other', async () => {
  const { edges, state, added, close } = createEdges()
  state.nodes = ['two', 'three', 'four']
  edges.start(Promise.resolve())
  await until(() => (added.length === 3 ? true : undefined), { what: 'the edges to be led' })
  const check = async () => checkNodeEdges([...edges.listStatuses().values()], await edges.findClosedPorts())
  expect(await check()).toMatchObject([{ name: 'swarm edges', status: 'ok' }])
  state.closed = '10.0.0.4'
  expect(await check()).toMatchObject([
    { name: 'swarm edges', status: 'warning', message: 'Some nodes cannot connect to each other: three to port 7946 of four (10.0.0.4).' },
  ])
  await close()
})
