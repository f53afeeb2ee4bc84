import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import type { ClusterNode } from '../../server/contract/nodes.ts'
import { clusterTopics } from '../../server/help/topics/cluster.ts'
import { runCommand } from '../support/command.ts'
import { createTempFolder, type RunningInstance, startInstance } from '../support/instance-process.ts'
import { createClient, until } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'

/*
 * The commands of the topic cluster, from three engines to an app on three nodes. All nodes have one file system here, so the agents of Homeport answer, but
 * find the engine of this machine at /var/run/docker.sock; what they do is tested with their own engines in runtime/swarm-agents.full.test.ts.
 */

describe.skipIf(!requires('swarm').ok || !requires('service-images').ok)('the guide to a cluster', () => {
  const repository = makeRepository({
    'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => response.end(require('node:os').hostname())).listen(process.env.PORT)`,
  })
  let swarm: TestSwarm
  const data = createTempFolder('guide')
  let running: RunningInstance | undefined

  beforeAll(async () => {
    swarm = await startSwarm(3, 0, ['node:24-bookworm-slim', 'registry:2'])
  }, 120_000)
  afterAll(async () => {
    await running?.stop()
    await swarm.remove()
    repository.remove()
    data.remove()
    rmSync(join('/etc/docker/certs.d', `${swarm.address(1)}:5000`), { recursive: true, force: true })
  }, 120_000)

  /** A command of the guide that begins with these words, with the addresses and the interface of the test’s nodes. */
  function findCommand(start: string): string[] {
    const commands = clusterTopics.flatMap(({ body }) => body.flatMap((block) => (typeof block === 'object' && 'run' in block ? [block.run] : [])))
    const found = commands.find((command) => command.startsWith(start))
    if (found === undefined) throw new Error(`The guide has no command that starts with ${start}.`)
    const network = swarm.address(1).replace(/\d+$/, '')
    return found.replaceAll('10.0.0.0', `${network}0`).replaceAll('10.0.0.1', swarm.address(1)).replaceAll('eth1', 'eth0').split(' ')
  }
  const runHomeport = (node: number, args: string[]) =>
    runCommand(running?.instance ?? { api_url: 'http://127.0.0.1:9', token: undefined }, '.', args, {
      docker_host: `unix://${swarm.socket(node)}`,
    })
  const argumentsOf = (command: string[]): string[] => command.slice(command.indexOf('homeport') + 1)

  test('leads to an app on three nodes', async () => {
    for (const node of [1, 2, 3]) await swarm.runOn(node, findCommand('iptables'))
    expect(await runHomeport(1, argumentsOf(findCommand('npx homeport node init')))).toMatchObject({ code: 0 })
    const [serve, ...args] = argumentsOf(findCommand('npx homeport serve'))
    expect(serve).toBe('serve')
    running = await startInstance({
      data: data.path,
      // Free ones, because other tests run here.
      args: [...args, '--port', '0', '--edge-port', '0'],
      env: { DOCKER_HOST: `unix://${swarm.socket(1)}` },
    })
    const started = createClient(running.instance)

    const printed = await runHomeport(1, argumentsOf(findCommand('npx homeport node token')))
    const join = printed.out.trim().split(' ')
    const written = findCommand('sudo npx homeport node join')
    expect(join.map((word, index) => (/TOKEN|FINGERPRINT/.test(written[index] ?? '') ? written[index] : word))).toEqual(written)
    for (const node of [2, 3]) expect(await runHomeport(node, [...argumentsOf(join), '--address', swarm.address(node)])).toMatchObject({ code: 0 })
    const listNodes = async () => (await started.api<{ nodes: ClusterNode[] }>('GET', '/instance/nodes')).body.nodes
    await until(async () => (await listNodes()).filter(({ is_ready, role }) => is_ready && role === 'manager').length === 3 || undefined, {
      what: 'three managers',
    })

    await started.createProject({ slug: 'guided', repo_url: repository.url })
    await started.api('PATCH', '/instance/projects/guided/settings', { replicas: 3 })
    expect(await started.waitForEnd('guided', (await started.deploy('guided')).id)).toMatchObject({ status: 'ready', error: null })
    expect(await runHomeport(1, argumentsOf(findCommand('npx homeport node balance')))).toMatchObject({ code: 0 })
    expect((await listNodes()).map(({ replicas }) => replicas.length)).toEqual([1, 1, 1])
    const answers = new Set<string>()
    await until(async () => answers.add((await started.fetchEdge('guided.localhost')).body).size === 3 || undefined, {
      what: 'an answer of each replica',
    })

    const checkAll = async () => (await started.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor')).body.checks
    const ofSwarm = ({ name }: DoctorCheck) => name.startsWith('swarm')
    await until(async () => (await checkAll()).filter(ofSwarm).every(({ status }) => status === 'ok') || undefined, { what: 'the agents to answer' })
    expect((await checkAll()).filter(ofSwarm).map(({ name }) => name)).toEqual([
      'swarm',
      'swarm registry',
      'swarm connections',
      'swarm agents',
      'swarm clocks',
    ])
    for (const node of [1, 2, 3]) {
      const ports = (await swarm.docker(node, ['ps', '--format', '{{.Ports}}'])).split('\n').filter((line) => line.includes('->'))
      expect(ports.filter((line) => !line.startsWith(`${swarm.address(node)}:`))).toEqual([])
    }
  }, 300_000)
})
