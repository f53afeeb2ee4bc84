import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import type { ClusterNode } from '../../server/contract/nodes.ts'
import { runCommand } from '../support/command.ts'
import { deployWithReplicas, hostNameApp, platformOnNode, withNodeEdges } from '../support/cluster.ts'
import { findFailuresDuring, getAtEdge } from '../support/edge-requests.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { until } from '../support/until.ts'

/* The edges of the other nodes of a swarm of three, of which Homeport manages the first. */

describe.skipIf(!requires('swarm').ok)('the edges of other nodes', () => {
  let swarm: TestSwarm
  let platform: TestPlatform
  let edge_port = 0
  const app = makeRepository(hostNameApp)
  /** Says when it answered, and lets everybody keep that. */
  const cached = makeRepository({
    'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => response.setHeader('cache-control', 'max-age=600').end(String(process.hrtime.bigint()))).listen(process.env.PORT, process.env.HOST)`,
  })
  const site = makeRepository({ 'index.html': 'a static site' })

  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
  const start = () => startTestPlatform({ ...platformOnNode(swarm, 1), ...withNodeEdges, data_dir, edge_port })

  const listNodes = async () => (await platform.api<{ nodes: ClusterNode[] }>('GET', '/instance/nodes')).body.nodes
  const waitForEdges = (expected: ClusterNode['edge'][]) =>
    until(
      async () => {
        expect((await listNodes()).map(({ edge }) => edge)).toEqual(expected)
        return true
      },
      { what: `the edges ${expected.join(', ')}` },
    )
  const getAt = (node: number, slug: string) => getAtEdge(swarm.address(node), edge_port, slug)

  beforeAll(async () => {
    swarm = await startSwarm(3)
    platform = await start()
    edge_port = Number(new URL(platform.handle.instance.edge_url).port)
    await deployWithReplicas(platform, 'three', app.url, 3)
    await deployWithReplicas(platform, 'cached', cached.url, 3)
    await deployWithReplicas(platform, 'site', site.url, 1)
  }, 300_000)
  afterAll(async () => {
    await platform.remove()
    await swarm.remove()
    app.remove()
    cached.remove()
    site.remove()
  }, 120_000)

  test('serve apps and static sites at the port of Homeport', async () => {
    await waitForEdges([null, 'serving', 'serving'])
    for (const node of [2, 3]) {
      const answers = new Set<string>()
      await until(async () => answers.add((await getAt(node, 'three')).text).size === 3 || undefined, { what: 'an answer of each replica' })
      expect(await getAt(node, 'site')).toMatchObject({ status: 200, text: 'a static site' })
      expect(await getAt(node, 'unknown')).toMatchObject({ status: 404 })
    }
    const printed = await runCommand(platform.handle.instance, '.', ['node', 'list'])
    expect(printed.out.split('\n').filter((line) => / Edge /.test(line))).toHaveLength(2)
    const { checks } = (await platform.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor')).body
    expect(checks).toContainEqual(expect.objectContaining({ name: 'swarm edges', status: 'ok' }))
    const rule = ['-p', 'tcp', '-d', swarm.address(3), '--dport', '7946', '-j', 'REJECT']
    await swarm.runOn(2, ['iptables', '-I', 'OUTPUT', ...rule])
    const blocked = (await platform.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor')).body.checks
    await swarm.runOn(2, ['iptables', '-D', 'OUTPUT', ...rule])
    const message = expect.stringContaining(`to port 7946 of ${(await listNodes())[2]!.name} (${swarm.address(3)}).`) as string
    expect(blocked).toContainEqual(expect.objectContaining({ name: 'swarm edges', status: 'warning', message }))
    // The port for Homeport is at the private address alone.
    expect(await swarm.runOn(2, ['ss', '-Hltn', 'sport = :7444'])).toContain(`${swarm.address(2)}:7444`)
  })

  /** Of GETs to both projects at node 2. */
  const failuresDuring = (work: () => Promise<void>) => findFailuresDuring(work, ['three', 'site'], (slug) => getAt(2, slug))

  test('a deployment replaces the replicas without a failed request', async () => {
    const failures = await failuresDuring(async () => {
      for (let round = 0; round < 3; round++)
        for (const slug of ['three', 'site'])
          expect(await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).toMatchObject({ status: 'ready' })
    })
    expect(failures).toEqual([])
  })

  test('an update of an edge refuses and resets no connection', async () => {
    const [name = ''] = (await swarm.docker(1, ['service', 'ls', '--filter', 'label=homeport.role=edge', '--format', '{{.Name}}'])).split('\n')
    const [host] = (await swarm.docker(1, ['service', 'ps', '--filter', 'desired-state=running', '--format', '{{.Node}}', name])).split('\n')
    const node = (await listNodes()).findIndex((one) => one.name === host) + 1
    const failures = await findFailuresDuring(
      async () => void (await swarm.docker(1, ['service', 'update', '--force', name])),
      ['three', 'site'],
      (slug) => getAt(node, slug),
    )
    expect(failures).toEqual([])
    await waitForEdges([null, 'serving', 'serving'])
  })

  test('go on while Homeport is away, also after a restart, and follow it again', async () => {
    const failures = await failuresDuring(async () => {
      await platform.kill()
      const container = (await swarm.docker(3, ['ps', '-q', '--filter', 'label=homeport.role=edge'])).trim()
      await swarm.docker(3, ['kill', container])
      const killed = performance.now()
      for (const slug of ['three', 'site'])
        await until(async () => (await getAt(3, slug).catch(() => undefined))?.status === 200 || undefined, { what: `${slug} at the restarted edge` })
      console.log(`the edge served again ${Math.round(performance.now() - killed)} ms after it was killed`)
      platform = await start()
      await waitForEdges([null, 'serving', 'serving'])
    })
    expect(failures).toEqual([])
  })

  test('serve an app that ends while Homeport is away once the swarm has started it again', async () => {
    const collect = async (earlier: Set<string>) => {
      const answers = new Set<string>()
      const ask = async () => {
        const { status, text } = await getAt(2, 'three')
        if (status === 200 && !earlier.has(text)) answers.add(text)
        return answers.size === 3 || undefined
      }
      await until(ask, { what: 'an answer of each replica' })
      return answers
    }
    const before = await collect(new Set())
    await platform.kill()
    for (const node of [1, 2, 3]) {
      const ids = (await swarm.docker(node, ['ps', '-q', '--filter', 'label=homeport.role=task'])).trim().split('\n')
      await swarm.docker(node, ['kill', ...ids])
    }
    const after = await collect(before)
    platform = await start()
    await waitForEdges([null, 'serving', 'serving'])
    // Homeport takes them over as they are.
    expect(await collect(before)).toEqual(after)
  })

  test('a killed node fails no GET at the edge of another', async () => {
    const failures = await failuresDuring(async () => {
      await swarm.run('node-kill', 3)
      await waitForEdges([null, 'serving', 'not_connected'])
      // A node that is back earlier may be listed with replicas that ended with it, which nothing moves.
      await until(
        async () => {
          const [first, second, third] = await listNodes()
          expect([third!.is_ready, [...first!.replicas, ...second!.replicas].filter(({ state }) => state === 'running').length]).toEqual([false, 6])
          return true
        },
        { what: 'all replicas on the other nodes' },
      )
    })
    expect(failures).toEqual([])
    await swarm.run('node-start', 3)
    await waitForEdges([null, 'serving', 'serving'])
  })

  test('an edge that is cut off serves nothing of before a purge that it missed', async () => {
    // A replica that the node reaches without the others.
    expect(await platform.api('POST', '/instance/nodes/balance')).toMatchObject({ status: 200 })
    const [, , third] = await listNodes()
    expect(third!.replicas.map(({ project_slug }) => project_slug)).toContain('cached')
    const { text: before } = await until(
      async () => {
        const answer = await getAt(3, 'cached')
        return answer.text === (await getAt(3, 'cached')).text ? answer : undefined
      },
      { what: 'a cached response at node 3' },
    )
    await swarm.run('node-disconnect', 3)
    const began = performance.now()
    expect(await platform.api('POST', '/projects/cached/cache/purge-all')).toMatchObject({ status: 200 })
    console.log(`the purge took ${Math.round(performance.now() - began)} ms`)
    const url = `http://${swarm.address(3)}:${edge_port}/`
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => swarm.runOn(3, ['curl', '-s', '-m', '30', '-w', ' %{http_code}', '-H', 'host: cached.localhost', url])),
    )
    for (const answer of answers) {
      expect(answer).toMatch(/^\d+ 200$/)
      expect(answer).not.toBe(`${before} 200`)
    }
    await swarm.run('node-reconnect', 3)
    await waitForEdges([null, 'serving', 'serving'])
    expect((await getAt(3, 'cached')).text).not.toBe(before)
  })
})
