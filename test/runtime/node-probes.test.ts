import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type Docker from 'dockerode'
import { expect, test } from 'vitest'
import type { DockerEngine } from '../../server/runtime/docker/engine.ts'
import { tryPort } from '../../server/lib/try-port.ts'
import { createNodeProbes } from '../../server/runtime/swarm/node-probes.ts'
import { waitEventLoopTurns } from '../support/seeded-random.ts'
import { createTestClock } from '../support/test-clock.ts'

/* With real nodes: test/deployments/cluster-failures.full.test.ts. */

test('a node is silent after three probes without an answer, and no longer after the next answer', async () => {
  const { probes, answers, probeAll } = await create()
  for (const [answer, isSilent] of [
    ['open', false],
    ['silent', false],
    ['silent', false],
    ['refused', false],
    ['silent', false],
    ['silent', false],
    ['silent', true],
    ['open', false],
  ] as const) {
    answers.set('10.0.0.2', answer)
    await probeAll()
    expect(probes.isSilent('two')).toBe(isSilent)
  }
})

test('a node that has never answered, this one and an unknown one are not silent', async () => {
  const { probes, tried, probeAll } = await create()
  for (let times = 0; times < 5; times++) await probeAll()
  expect(['one', 'two', 'three'].map(probes.isSilent)).toEqual([false, false, false])
  expect([...new Set(tried)]).toEqual(['10.0.0.2'])
})

test('of several nodes that are silent at once, none is: this machine may have lost its network', async () => {
  const { probes, answers, probeAll } = await create(['one', 'two', 'three'])
  const silent = async (...hosts: string[]) => {
    for (const host of ['10.0.0.2', '10.0.0.3']) answers.set(host, hosts.includes(host) ? 'silent' : 'open')
    for (let times = 0; times < 3; times++) await probeAll()
    return ['two', 'three'].filter(probes.isSilent)
  }
  expect(await silent()).toEqual([])
  expect(await silent('10.0.0.3')).toEqual(['three'])
  expect(await silent('10.0.0.2', '10.0.0.3')).toEqual([])
  expect(await silent('10.0.0.2')).toEqual(['two'])
})

test('nodes are probed at most every 750 ms, also while the swarm lists none', async () => {
  const { probes, tried, answers, docker, probeAll } = await create()
  answers.set('10.0.0.2', 'open')
  await probeAll()
  const count = tried.length
  probes.refresh()
  expect(tried).toHaveLength(count)
  docker.listNodes = () => Promise.reject(new Error('The swarm does not have a leader.'))
  answers.set('10.0.0.2', 'silent')
  for (let times = 0; times < 15; times++) await probeAll()
  expect(probes.isSilent('two')).toBe(true)
})

test('probes that overlap count one by one', async () => {
  const { probes, answers, logged, probeAll } = await create()
  answers.set('10.0.0.2', 'open')
  await probeAll()
  const late = Promise.withResolvers<'silent'>()
  answers.set('10.0.0.2', late.promise)
  for (let times = 0; times < 3; times++) await probeAll()
  expect(probes.isSilent('two')).toBe(false)
  late.resolve('silent')
  await waitEventLoopTurns(2)
  expect(probes.isSilent('two')).toBe(true)
  expect(logged).toEqual(['swarm_node_silent node-two'])
})

test('the log names a node that becomes silent, once, and when it answers again', async () => {
  const { answers, logged, probeAll } = await create()
  for (const answer of ['open', 'silent', 'silent', 'silent', 'silent', 'open', 'open'] as const) {
    answers.set('10.0.0.2', answer)
    await probeAll()
  }
  expect(logged).toEqual(['swarm_node_silent node-two', 'swarm_node_answers node-two'])
})

test('a connection that opens while this process pauses counts', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const trying = tryPort('127.0.0.1', (server.address() as AddressInfo).port, 20)
  const until = performance.now() + 100
  while (performance.now() < until);
  expect(await trying).toBe('open')
  server.close()
})

test('a port is open, refused or silent', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await tryPort('127.0.0.1', port, 1_000)).toBe('open')
  server.close()
  await once(server, 'close')
  expect(await tryPort('127.0.0.1', port, 1_000)).toBe('refused')
  expect(await tryPort('name.invalid', port, 1_000)).toBe('silent')
})

/** Nodes, of which the first is that of Homeport, and a clock that `probeAll` moves on by a second. */
async function create(ids = ['one', 'two']) {
  type Answer = 'open' | 'refused' | 'silent'
  const answers = new Map<string, Answer | Promise<Answer>>()
  const tried: string[] = []
  const nodes = ids.map((ID, index) => ({
    ID,
    Description: { Hostname: `node-${ID}` },
    Status: { State: 'ready', Addr: `10.0.0.${index + 1}` },
  }))
  const docker = { listNodes: async () => nodes as object[] }
  const connection = { docker: docker as unknown as Docker, swarm: { node_id: 'one', node_address: '10.0.0.1' } }
  const logged: string[] = []
  const note = (event: string, { node }: { node: string }) => void logged.push(`${event} ${node}`)
  const engine = { connection: async () => connection, options: { log: { info: note, warn: note } } } as unknown as DockerEngine
  const clock = createTestClock({ frozen_at: 0 })
  const tryHost = async (host: string) => {
    tried.push(host)
    return answers.get(host) ?? 'silent'
  }
  const probes = createNodeProbes(engine, { tryHost, clock })
  // The first one finds the nodes.
  await probeAll()
  return { probes, answers, tried, logged, docker, probeAll }

  async function probeAll() {
    await clock.advance(1_000)
    probes.refresh()
    await clock.advance(0)
  }
}
