import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import { createDockerEngine, type DockerEngine } from '../../server/runtime/docker/engine.ts'
import { createClusterEngine } from '../../server/runtime/swarm/cluster.ts'
import { createServiceReplicas } from '../../server/runtime/swarm/service-replicas.ts'
import { runtimeOptions } from '../support/runtime.ts'

/* With a swarm: swarm-suite.full.test.ts and swarm.full.test.ts. */

test('a replica whose node is lost while it starts is started on another one, and nothing stays behind', async () => {
  const silent = new Set<string>()
  const services = new Map<string, { ID: string; Spec: Docker.ServiceSpec }>()
  const constraints: unknown[] = []
  const removed: string[] = []
  const docker = {
    listNodes: async () => ['one', 'two', 'three'].map((ID) => ({ ID, Status: { State: 'ready', Addr: ID }, Spec: { Availability: 'active' } })),
    listServices: async () => [],
    async createService(spec: Docker.ServiceSpec) {
      const id = `service-${services.size}`
      services.set(id, { ID: id, Spec: spec })
      constraints.push((spec.TaskTemplate as { Placement: { Constraints: string[] } }).Placement.Constraints)
      return { id }
    },
    getService: (id: string) => ({
      inspect: async () => services.get(id),
      remove: async () => void removed.push(id),
      logs: () => Promise.reject(new Error('none')),
    }),
    // The first one has just been placed on a node whose machine is gone; the second one runs.
    async listTasks({ filters }: { filters: string }) {
      const [id] = (JSON.parse(filters) as { service?: string[] }).service ?? []
      if (id === undefined) return []
      silent.add('two')
      const [NodeID, State] = id === 'service-0' ? ['two', 'preparing'] : ['three', 'running']
      const Ports = [{ TargetPort: 8080, PublishedPort: 40_000 }]
      return [{ ID: 'task', ServiceID: id, NodeID, CreatedAt: '1', DesiredState: 'running', Status: { State, PortStatus: { Ports } } }]
    },
    getNetwork: () => ({ inspect: async () => ({ Id: 'network', Name: 'network', Scope: 'swarm' }) }),
    getImage: () => ({ inspect: () => Promise.reject(new Error('none')) }),
  } as unknown as Docker
  const options = await runtimeOptions()
  await options.remove()
  const connection = { docker, swarm: { node_id: 'one', node_address: 'one' }, limitCpus: (cpus: number) => cpus }
  const base = { ...createDockerEngine(options), connection: async () => connection } as unknown as DockerEngine
  const engine = { ...createClusterEngine(base), createPrivateNetwork: async () => {} }
  const replicas = createServiceReplicas(
    engine,
    { share: async () => ({ image: 'app' }) },
    { agents: { connect: async () => undefined, ensure() {} }, probes: { refresh() {}, isSilent: (id) => silent.has(id) } },
  )
  const found = await replicas.start({
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
  })
  expect(found).toMatchObject({ id: 'service-1', host: 'three', port: 40_000 })
  expect(constraints).toEqual([[], ['node.id!=two']])
  expect(removed).toEqual(['service-0'])
  await replicas.close()
})
