import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { createDockerEngine, type DockerEngine } from '../../server/runtime/docker/engine.ts'
import { createClusterEngine } from '../../server/runtime/swarm/cluster.ts'
import type { ReplicaExit, StartRequest } from '../../server/runtime/runtime.ts'
import { createServiceReplicas } from '../../server/runtime/swarm/service-replicas.ts'
import { runtimeOptions } from '../support/runtime.ts'
import { until } from '../support/until.ts'

/* With a swarm: swarm-suite.full.test.ts and swarm.full.test.ts. */

test('a replica whose node is lost while it starts is started on another one, and nothing stays behind', async () => {
  const { swarm, start, close } = await create()
  // The first one has just been placed on a node whose machine is gone; the second one runs.
  swarm.findTask = (service) => {
    swarm.silent.add('two')
    return service === 'service-0' ? ['two', 'preparing'] : ['three', 'running']
  }
  expect(await start()).toMatchObject({ id: 'service-1', host: 'three' })
  expect(swarm.constraints).toEqual([[], ['node.id!=two']])
  expect([...swarm.services.keys()]).toEqual(['service-1'])
  await close()
})

test('a replica has a port of its own, and stays on its node when the swarm starts it again', async () => {
  const { swarm, start, close } = await create()
  const replicas = [await start({ node_labels: ['disk=ssd'] }), await start()]
  const services = [...swarm.services.values()].map(({ Spec }) => Spec)
  expect(services.map(({ EndpointSpec }) => EndpointSpec?.Ports?.[0]?.PublishedPort)).toEqual(replicas.map(({ port }) => port))
  expect(new Set(replicas.map(({ port }) => port)).size).toBe(2)
  const constraints = services.map(({ TaskTemplate }) => (TaskTemplate as { Placement: { Constraints: string[] } }).Placement.Constraints)
  expect(constraints).toEqual([['node.labels.disk==ssd', 'node.id==three'], ['node.id==three']])
  await close()
})

test('a replica is started beside another one of its app if the other nodes have no memory left', async () => {
  const { swarm, start, close } = await create()
  await start()
  const full = ['', 'pending', 'no suitable node (insufficient resources on 2 nodes; scheduling constraints not satisfied on 1 node)']
  swarm.findTask = (service) => (service === 'service-1' ? full : ['three', 'running'])
  expect(await start()).toMatchObject({ id: 'service-2', host: 'three' })
  expect(swarm.constraints).toEqual([[], ['node.id!=three'], []])
  expect([...swarm.services.keys()]).toEqual(['service-0', 'service-2'])
  await close()
})

test('a replica whose port another instance has on the only node with room gets another one', async () => {
  const { swarm, start, close } = await create()
  const refused = ['', 'pending', 'no suitable node (host-mode port already in use on 1 node; insufficient resources on 2 nodes)']
  swarm.findTask = (service) => (service === 'service-0' ? refused : ['three', 'running'])
  expect(await start()).toMatchObject({ id: 'service-1' })
  expect([...swarm.services.keys()]).toEqual(['service-1'])
  await close()
})

test('a replica whose port is in use on its node gets another one; after five the failure is reported', async () => {
  const { swarm, start, close } = await create()
  const failed = ['three', 'rejected', 'driver failed programming external connectivity: Bind for 10.0.0.3:20000 failed: port is already allocated']
  swarm.findTask = (service) => (service === 'service-0' ? failed : ['three', 'running'])
  expect(await start()).toMatchObject({ id: 'service-1' })
  swarm.findTask = (service) => (service === 'service-1' ? ['three', 'running'] : failed)
  await expect(start()).rejects.toMatchObject({ code: 'start_failed', message: expect.stringContaining('port is already allocated') })
  expect([[...swarm.services.keys()], swarm.constraints.length]).toEqual([['service-1'], 7])
  await close()
})

test('a start waits for a swarm that elects a leader', async () => {
  const { swarm, start, close } = await create()
  swarm.refusals = 2
  expect(await start()).toMatchObject({ id: 'service-0' })
  expect([...swarm.services.keys()]).toEqual(['service-0'])
  await close()
})

test('a start waits while a network that has just been removed is found beside the new one of its name', async () => {
  const { swarm, start, close } = await create()
  swarm.ambiguities = 2
  expect(await start()).toMatchObject({ id: 'service-0' })
  expect(swarm.ambiguities).toBe(0)
  await close()
})

test('a start takes what the swarm has accepted although it answered with an error, and one that is given up leaves nothing', async () => {
  const { swarm, start, close } = await create()
  swarm.refusals = 1
  swarm.acceptsRefused = true
  expect(await start()).toMatchObject({ id: 'service-0' })
  swarm.refusals = 1
  const stopping = new AbortController()
  swarm.onRefused = () => stopping.abort(new Error('given up'))
  await expect(start({ signal: stopping.signal })).rejects.toThrow('given up')
  await until(async () => (swarm.services.size === 1 ? true : undefined), { what: 'the removal' })
  await close()
})

test('the exit of a lost replica is reported before the swarm accepts its removal', async () => {
  const { swarm, start, stop, close } = await create()
  swarm.refusesRemovals = true
  const exited = Promise.withResolvers<ReplicaExit>()
  const { id } = await start({ onExit: exited.resolve })
  swarm.silent.add('three')
  expect(await exited.promise).toMatchObject({ code: 137 })
  await stop(id, 0)
  expect(swarm.services.has(id)).toBe(true)
  swarm.refusesRemovals = false
  await until(async () => (swarm.services.size === 0 ? true : undefined), { what: 'the removal' })
  await close()
})

/** A swarm of three nodes, whose tasks run on the third one. */
async function create() {
  const swarm = {
    silent: new Set<string>(),
    services: new Map<string, { ID: string; Spec: Docker.ServiceSpec }>(),
    constraints: [] as unknown[],
    findTask: (_service: string): string[] => ['three', 'running'],
    /** So many services are refused, for want of a leader. */
    refusals: 0,
    /** They are accepted nevertheless. */
    acceptsRefused: false,
    onRefused() {},
    refusesRemovals: false,
    /** So many lookups find two networks of the name. */
    ambiguities: 0,
  }
  const fail = (statusCode: number, text: string) => Object.assign(new Error(text), { statusCode })
  const withoutLeader = 'rpc error: code = Unknown desc = raft: failed to process the request: node lost leader status'
  const find = (id: string) => {
    const found = swarm.services.get(id) ?? [...swarm.services.values()].find(({ Spec }) => Spec.Name === id)
    if (!found) throw fail(404, 'no such service')
    return found
  }
  const docker = {
    listNodes: async () => ['one', 'two', 'three'].map((ID) => ({ ID, Status: { State: 'ready', Addr: ID }, Spec: { Availability: 'active' } })),
    listServices: async () => [...swarm.services.values()],
    async createService(spec: Docker.ServiceSpec) {
      if ([...swarm.services.values()].some(({ Spec }) => Spec.Name === spec.Name)) throw fail(409, 'name conflicts with an existing object')
      const isRefused = swarm.refusals-- > 0
      const id = `service-${swarm.constraints.length}`
      if (!isRefused || swarm.acceptsRefused) {
        swarm.services.set(id, { ID: id, Spec: spec })
        swarm.constraints.push((spec.TaskTemplate as { Placement: { Constraints: string[] } }).Placement.Constraints)
      }
      if (!isRefused) return { id }
      swarm.onRefused()
      throw fail(500, withoutLeader)
    },
    getService: (id: string) => ({
      inspect: async () => find(id),
      async remove() {
        if (swarm.refusesRemovals) throw fail(500, withoutLeader)
        swarm.services.delete(find(id).ID)
      },
      async update({ version: _, ...spec }: Docker.ServiceSpec & { version: number }) {
        find(id).Spec = spec
      },
      logs: () => Promise.reject(new Error('none')),
    }),
    async listTasks({ filters }: { filters: string }) {
      const { service = [...swarm.services.keys()] } = JSON.parse(filters) as { service?: string[] }
      return service.map((id) => {
        const [NodeID, State, Err] = swarm.findTask(id)
        const Ports = find(id).Spec.EndpointSpec?.Ports
        return { ID: 'task', ServiceID: id, NodeID, CreatedAt: '1', DesiredState: 'running', Status: { State, Err, PortStatus: { Ports } } }
      })
    },
    getNetwork: () => ({
      async inspect() {
        if (swarm.ambiguities === 0) return { Id: 'network', Name: 'network', Scope: 'swarm' }
        swarm.ambiguities--
        throw fail(400, '2 matches found based on name: network network is ambiguous')
      },
    }),
    getImage: () => ({ inspect: () => Promise.reject(new Error('none')) }),
  } as unknown as Docker
  const options = await runtimeOptions()
  await options.remove()
  const connection = { docker, swarm: { node_id: 'one', node_address: 'one' }, limitCpus: (cpus: number) => cpus }
  const base = { ...createDockerEngine(options), connection: async () => connection } as unknown as DockerEngine
  const engine = { ...createClusterEngine(base), createPrivateNetwork: async () => {} }
  const { start, stop, close } = createServiceReplicas(
    engine,
    { share: async () => ({ image: 'app' }) },
    { agents: { connect: async () => undefined, ensure() {} }, probes: { refresh() {}, isSilent: (id) => swarm.silent.has(id) } },
  )
  const request: StartRequest = {
    project_id: 'prj_1',
    deployment_id: 'dpl_1',
    artifact: { kind: 'image', image: 'app', port: null, bytes: 1 },
    variables: {},
    memory_mb: 100,
    cpus: 1,
    listen_port: null,
    ports: [],
    signal: new AbortController().signal,
    onLine() {},
    onExit() {},
  }
  return { swarm, start: (more?: Partial<StartRequest>) => start({ ...request, ...more }), stop, close }
}
