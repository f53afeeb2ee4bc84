import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type Docker from 'dockerode'
import { describe, expect, test } from 'vitest'
import { findFreePort } from '../../server/lib/free-port.ts'
import { readOptions, UsageError } from '../../server/options.ts'
import { createDockerEngine } from '../../server/runtime/docker/engine.ts'
import { getServiceNetworkName } from '../../server/runtime/docker/service-container.ts'
import { createClusterEngine, type SwarmNode } from '../../server/runtime/swarm/cluster.ts'
import { createServicePorts } from '../../server/runtime/swarm/service-ports.ts'
import { createServiceSpec, sumAvailableMemory } from '../../server/runtime/swarm/service-spec.ts'
import type { SwarmTask } from '../../server/runtime/swarm/tasks.ts'
import { checkClocks, checkHeartbeat, checkNodePorts, checkPortAddress } from '../../server/runtime/swarm/swarm-checks.ts'
import { runtimeOptions } from '../support/runtime.ts'
import { serviceRequest } from './suite-services.ts'

/* Without a swarm: swarm-suite.full.test.ts and swarm.full.test.ts have one. */

describe('the service of a replica', () => {
  const create = async (more = {}) => {
    const options = await runtimeOptions()
    await options.remove()
    const request = {
      project_id: 'prj_1',
      deployment_id: 'dpl_1',
      artifact: { kind: 'image' as const, image: 'app', port: null, bytes: 1 },
      variables: { SECRET: 'HPSENT_swarm' },
      memory_mb: 100,
      cpus: 4,
      listen_port: 3000,
      ports: [9000],
      signal: new AbortController().signal,
      ...more,
    }
    const placing = {
      image: 'sha256:1',
      networks: [{ id: 'net1', host_names: ['api'] }],
      constraints: ['node.id!=a'],
      ports: [20_001, 20_002, 20_003],
      limitCpus: () => 2,
    }
    return createServiceSpec(createDockerEngine(options), 'one', request, placing)
  }

  test('has its variables in its environment only, and its ports at the node without a virtual IP', async () => {
    const spec = await create({ service: serviceRequest({ command: ['node', 'x.js'] }) })
    const template = spec.TaskTemplate as { ContainerSpec: { Env: string[] } }
    expect(template.ContainerSpec.Env).toEqual(['HOST=0.0.0.0', 'SECRET=HPSENT_swarm', 'PORT_9000=9000', 'PORT=8080'])
    const { Env: _, ...rest } = template.ContainerSpec
    expect(JSON.stringify({ ...spec, TaskTemplate: { ...template, ContainerSpec: rest } })).not.toContain('HPSENT_swarm')
    const host = { Protocol: 'tcp', PublishMode: 'host' }
    const ports = [8080, 3000, 9000].map((TargetPort, index) => ({ ...host, TargetPort, PublishedPort: 20_001 + index }))
    expect(spec.EndpointSpec).toEqual({ Mode: 'dnsrr', Ports: ports })
  })

  test('is limited, and restarted by the swarm only after Homeport would have seen its end', async () => {
    const { TaskTemplate, Mode } = await create()
    expect(Mode).toEqual({ Replicated: { Replicas: 1 } })
    expect(TaskTemplate).toMatchObject({
      ContainerSpec: { Image: 'sha256:1', CapabilityDrop: ['ALL'], Privileges: { NoNewPrivileges: true }, HealthCheck: { Test: ['NONE'] } },
      Resources: { Limits: { MemoryBytes: 100 * 1024 * 1024, NanoCPUs: 2e9, Pids: 256 }, Reservations: { MemoryBytes: 50 * 1024 * 1024 } },
      RestartPolicy: { Condition: 'any', Delay: 15e9 },
      Placement: { Constraints: ['node.id!=a'] },
      Networks: [{ Target: 'net1', Aliases: ['api'] }],
    })
    expect((TaskTemplate as { ContainerSpec: object }).ContainerSpec).not.toHaveProperty('CapabilityAdd')
  })
})

test('the nodes have room for twice the memory that is not reserved on them', () => {
  const node = (id: string, more: Partial<SwarmNode> = {}) => ({ id, memory_mb: 1_000, is_ready: true, availability: 'active', ...more }) as SwarmNode
  const task = (node_id: string, reserved_mb: number, state = 'running') => ({ node_id, reserved_bytes: reserved_mb * 2 ** 20, state }) as SwarmTask
  expect(sumAvailableMemory([node('a'), node('b')], [])).toBe(4_000)
  expect(sumAvailableMemory([node('a'), node('b')], [task('a', 300), task('a', 100, 'shutdown'), task('b', 1_200)])).toBe(1_400)
  expect(sumAvailableMemory([node('a', { is_ready: false }), node('b', { availability: 'pause' }), node('c')], [])).toBe(2_000)
})

test('a port of a replica is given to another one only after all others, and none that a service has', async () => {
  const options = await runtimeOptions()
  await options.remove()
  const published = new Set([20_003])
  const docker = {
    listServices: async () => [...published].map((PublishedPort) => ({ Spec: { EndpointSpec: { Ports: [{ PublishedPort }] } } })),
  } as unknown as Docker
  const ports = createServicePorts(createDockerEngine(options), { first: 20_001, last: 20_005 })
  const [two, one] = await Promise.all([ports.take(docker, 2), ports.take(docker, 1)])
  const taken = [...two, ...one]
  expect(new Set([...taken, ...(await ports.take(docker, 1))])).toEqual(new Set([20_001, 20_002, 20_004, 20_005]))
  for (const port of taken) published.add(port)
  const [free] = await ports.take(docker, 1)
  expect([20_001, 20_002, 20_004, 20_005].filter((port) => !taken.includes(port))).toEqual([free])
  published.add(free!)
  await expect(ports.take(docker, 1)).rejects.toMatchObject({ code: 'runtime_unavailable' })
})

test('the doctor warns where ports of apps are open at other addresses than that of the node', () => {
  expect(checkPortAddress('10.0.0.1', '10.0.0.1')).toEqual([])
  const message = 'Ports of apps are open at all addresses of this machine instead of 10.0.0.1, its address in the swarm.'
  expect(checkPortAddress('0.0.0.0', '10.0.0.1')).toMatchObject([{ name: 'swarm ports', status: 'warning', message }])
})

test('the doctor warns of a heartbeat with which a new leader loses nodes that are well', () => {
  expect([undefined, 5, 30].map(checkHeartbeat)).toEqual([[], [], []])
  const hint = 'Run docker swarm update --dispatcher-heartbeat 5s on this machine.'
  expect(checkHeartbeat(1)).toMatchObject([{ name: 'swarm heartbeat', status: 'warning', hint }])
})

test('HOMEPORT_REGISTRY is a host with an optional path', () => {
  const read = (HOMEPORT_REGISTRY: string) => readOptions({}, { HOMEPORT_REGISTRY }).registry
  expect(['', ' ', 'registry.example.com/apps/', '10.0.0.1:5000'].map(read)).toEqual([null, null, 'registry.example.com/apps', '10.0.0.1:5000'])
  for (const wrong of [
    'https://registry.example.com',
    'registry.example.com/Apps',
    'a b',
    'user:secret@registry.example.com',
    'registry.example.com/a:1',
  ])
    expect(() => read(wrong), wrong).toThrow(UsageError)
})

test('names of networks are short enough for a swarm, and different', async () => {
  const options = await runtimeOptions()
  await options.remove()
  const cluster = createClusterEngine(createDockerEngine({ ...options, instance_id: 'abcdefghijkl' }))
  const ids = ['prj_01m8d9zyzh8j44das4tpv6mayp', 'prj_01m8d9zyzh8j44das4tpv6mayq']
  const names = ids.flatMap((id) => [cluster.getDatabaseNetworkName(id), getServiceNetworkName(cluster, `${id}-feature-with-a-long-name`)])
  expect(new Set(names).size).toBe(4)
  for (const name of names) expect(name.length).toBeLessThanOrEqual(63)
  for (const name of names.filter((_, index) => index % 2)) expect(name.startsWith(getServiceNetworkName(cluster, ''))).toBe(true)
})

test('the doctor names nodes whose clocks differ', () => {
  expect(checkClocks([])).toEqual([])
  expect(checkClocks([{ node: 'a', ahead_ms: -1_900 }])).toMatchObject([{ name: 'swarm clocks', status: 'ok' }])
  const found = checkClocks([
    { node: 'a', ahead_ms: 90_000 },
    { node: 'b', ahead_ms: 100 },
    { node: 'c', ahead_ms: -2_500 },
  ])
  expect(found).toMatchObject([{ status: 'warning', message: expect.stringContaining('a (90.0 s ahead), c (2.5 s behind)') as unknown }])
})

test('the doctor names the ports of nodes that are closed', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: gossip } = server.address() as AddressInfo
  const manager = await findFreePort()
  const node = (name: string, role: 'manager' | 'worker') => ({ name, role, address: '127.0.0.1' })
  expect(await checkNodePorts([node('a', 'worker')], { gossip, manager })).toMatchObject({ name: 'swarm connections', status: 'ok' })
  const { status, message } = await checkNodePorts([node('a', 'worker'), node('b', 'manager')], { gossip, manager })
  expect([status, message]).toEqual(['warning', `This machine cannot connect to port ${manager} of b (127.0.0.1).`])
  server.close()
})
