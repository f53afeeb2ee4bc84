import { expect, test } from 'vitest'
import { createNodeHandlers } from '../../server/features/nodes.ts'
import type { FeatureDeps } from '../../server/features/deps.ts'
import type { NodeEdgeStatus } from '../../server/edge/nodes/node-link.ts'
import type { RuntimeNode } from '../../server/runtime/nodes.ts'
import { placedReplica, runtimeNode } from '../support/runtime-node.ts'
import { until } from '../support/until.ts'

/* The order of what happens to nodes and replicas. A real cluster is in `deployments/nodes.full.test.ts`. */

function createCluster(...placed: [name: string, ...replicas: string[]][]) {
  const events: string[] = []
  const moves: PromiseWithResolvers<void>[] = []
  const recovered = Promise.withResolvers<void>()
  const nodes = placed.map(([name, ...replicas], index) =>
    runtimeNode(
      name,
      replicas.map((id) => placedReplica(id)),
      { is_leader: index === 0, is_control_plane: index === 0 },
    ),
  )
  const find = (id: string) => nodes.find((node) => node.id === id)!
  const edges = new Map<string, NodeEdgeStatus>()
  const deps = {
    store: { db: { readSync: (work: (tx: object) => unknown) => work({ statement: () => ({ get: () => undefined }) }) } },
    instance: () => ({ runtime: { name: 'swarm' } }),
    log: { warn: (event: string) => events.push(event) },
    nodeEdges: { listStatuses: () => edges },
    runtimes: {
      swarm: {
        nodes: {
          list: async () => structuredClone(nodes),
          async setAvailability(id: string, availability: RuntimeNode['availability']) {
            find(id).availability = availability
            events.push(`${find(id).name} ${availability}`)
          },
          async setLabels(id: string, labels: Record<string, string | null>) {
            events.push(`${find(id).name} ${JSON.stringify(labels)}`)
            find(id).labels = Object.fromEntries(
              Object.entries({ ...find(id).labels, ...labels }).filter((entry): entry is [string, string] => entry[1] !== null),
            )
          },
          async remove(id: string) {
            events.push(`${find(id).name} removed`)
            nodes.splice(nodes.indexOf(find(id)), 1)
          },
        },
      },
    },
    deployments: {
      whenRecovered: () => recovered.promise,
      async moveReplicas(isAffected: (id: string) => boolean) {
        const affected = nodes.flatMap((node) => node.replicas.filter(({ id }) => isAffected(id)))
        events.push(`move ${affected.map(({ id }) => id).join(' ')}`)
        const move = Promise.withResolvers<void>()
        moves.push(move)
        await move.promise
        for (const node of nodes) node.replicas = node.replicas.filter((one) => !affected.includes(one))
        events.push('moved')
        return affected.length
      },
    },
  }
  const handlers = createNodeHandlers(deps as unknown as FeatureDeps)
  return {
    events,
    edges,
    moves,
    recovered,
    find,
    handlers,
    update: async (node: string, availability: 'active' | 'cordoned' | 'drained') =>
      (await handlers.updateNode({} as never, { params: { node }, query: {}, body: { availability } })) as {
        node: { availability: string }
      },
    label: async (node: string, labels: Record<string, string | null>) =>
      (await handlers.updateNode({} as never, { params: { node }, query: {}, body: { labels } })) as {
        node: { labels: object; availability: string }
      },
    remove: (node: string) => handlers.removeNode({} as never, { params: { node }, query: {} } as never),
    list: async () =>
      ((await handlers.listNodes({} as never, {} as never)) as { nodes: { name: string; availability: string; edge: string | null }[] }).nodes,
  }
}

const stateOf = async (cluster: ReturnType<typeof createCluster>, name: string) =>
  (await cluster.list()).find((node) => node.name === name)?.availability

test('a drain keeps new replicas away, then moves those that run, then drains the engine', async () => {
  const cluster = createCluster(['a', 'r1'], ['b', 'r2', 'r3'])
  expect((await cluster.update('b', 'drained')).node.availability).toBe('draining')
  await until(() => cluster.moves[0], { what: 'the move' })
  expect(cluster.events).toEqual(['b draining', 'move r2 r3'])
  expect(await stateOf(cluster, 'b')).toBe('draining')
  // Again, while it drains.
  await cluster.update('b', 'drained')
  cluster.moves[0]?.resolve()
  await until(async () => ((await stateOf(cluster, 'b')) === 'drained' ? true : undefined), { what: 'the drained node' })
  expect(cluster.events).toEqual(['b draining', 'move r2 r3', 'moved', 'b drained'])
  await cluster.remove('b')
  expect(cluster.events.at(-1)).toBe('b removed')
})

test('a node that is activated while it drains stays active', async () => {
  const cluster = createCluster(['a'], ['b', 'r1'])
  await cluster.update('b', 'drained')
  await until(() => cluster.moves[0], { what: 'the move' })
  expect((await cluster.update('b', 'active')).node.availability).toBe('active')
  cluster.moves[0]?.resolve()
  await until(() => cluster.events.includes('moved') || undefined, { what: 'the end of the move' })
  await cluster.list()
  expect(cluster.events).not.toContain('b drained')
  expect(await stateOf(cluster, 'b')).toBe('active')
})

test('a node that is activated and drained again is drained by the second request', async () => {
  const cluster = createCluster(['a'], ['b', 'r1', 'r2'])
  await cluster.update('b', 'drained')
  await until(() => cluster.moves[0], { what: 'the first move' })
  await cluster.update('b', 'active')
  cluster.find('id-b').replicas.push(placedReplica('r3'))
  await cluster.update('b', 'drained')
  cluster.moves[0]?.resolve()
  await until(() => cluster.moves[1], { what: 'the second move' })
  expect(await stateOf(cluster, 'b')).toBe('draining')
  cluster.moves[1]?.resolve()
  await until(async () => ((await stateOf(cluster, 'b')) === 'drained' ? true : undefined), { what: 'the drained node' })
  expect(cluster.events.filter((event) => event === 'b drained')).toHaveLength(1)
})

test('a drain that a restart interrupted goes on once the apps are supervised again', async () => {
  const cluster = createCluster(['a'], ['b', 'r1'], ['c', 'r2'])
  cluster.find('id-b').availability = 'draining'
  cluster.find('id-c').availability = 'cordoned'
  expect(await stateOf(cluster, 'b')).toBe('draining')
  expect(cluster.events).toEqual([])
  cluster.recovered.resolve()
  await until(() => cluster.moves[0], { what: 'the move' })
  cluster.moves[0]?.resolve()
  await until(() => cluster.events.includes('b drained') || undefined, { what: 'the drained node' })
  expect(cluster.events).toEqual(['b draining', 'move r1', 'moved', 'b drained'])
})

test('a node that does not answer is drained at once, because nothing of it can be moved', async () => {
  const cluster = createCluster(['a'], ['b', 'r1'])
  cluster.find('id-b').is_ready = false
  await cluster.update('id-b', 'drained')
  await until(() => cluster.events.includes('b drained') || undefined, { what: 'the drained node' })
  expect(cluster.events).toEqual(['b draining', 'b drained'])
  await cluster.remove('b')
})

test('the last node that takes apps, the own one and one that is not empty are refused', async () => {
  const cluster = createCluster(['a', 'r1'], ['b', 'r2'])
  await expect(cluster.remove('a')).rejects.toMatchObject({ code: 'node_in_use', message: expect.stringContaining('Homeport runs on a') })
  await expect(cluster.remove('b')).rejects.toMatchObject({ code: 'node_in_use', message: expect.stringContaining('Drain it') })
  await expect(cluster.remove('c')).rejects.toMatchObject({ code: 'node_not_found', message: expect.stringContaining('a, b') })
  await cluster.update('b', 'cordoned')
  for (const availability of ['cordoned', 'drained'] as const)
    await expect(cluster.update('a', availability)).rejects.toMatchObject({ code: 'node_in_use', message: expect.stringContaining('No other node') })
  expect(cluster.events).toEqual(['b cordoned'])
})

test('a node shows its edge', async () => {
  const cluster = createCluster(['a'], ['b'], ['c'], ['d'])
  const setEdge = (name: string, is_connected: boolean, problem: string | null) =>
    cluster.edges.set(`id-${name}`, { node: name, is_connected, problem })
  setEdge('b', true, null)
  setEdge('c', true, 'Port 80 is in use.')
  setEdge('d', false, null)
  expect((await cluster.list()).map(({ edge }) => edge)).toEqual([null, 'serving', 'not_listening', 'not_connected'])
})

test('labels are set and removed beside the availability, and those of Homeport are refused', async () => {
  const cluster = createCluster(['a'], ['b'])
  expect((await cluster.label('b', { disk: 'ssd', zone: 'a' })).node).toMatchObject({ labels: { disk: 'ssd', zone: 'a' }, availability: 'active' })
  expect((await cluster.label('b', { disk: null })).node.labels).toEqual({ zone: 'a' })
  expect(cluster.events).toEqual(['b {"disk":"ssd","zone":"a"}', 'b {"disk":null}'])
  await expect(cluster.label('b', { 'homeport.draining': 'x' })).rejects.toMatchObject({ code: 'invalid_input' })
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key${at}`, 'x']))
  await expect(cluster.label('b', many)).rejects.toMatchObject({ code: 'invalid_input' })
})
