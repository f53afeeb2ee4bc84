import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import type { ClusterNode } from '../../server/contract/nodes.ts'
import { findFailuresDuring, getAtEdge } from '../support/edge-requests.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { until } from '../support/until.ts'

/* Three managers, of which the first one leads and Homeport manages the second. */

describe.skipIf(!requires('swarm').ok)('when managers of a cluster are lost', () => {
  let swarm: TestSwarm
  let platform: TestPlatform
  const app = makeRepository({
    'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => response.end(require('node:os').hostname())).listen(process.env.PORT, process.env.HOST)`,
  })
  const site = makeRepository({ 'index.html': 'a static site' })

  /** Of GETs at the edge of the third node, or of Homeport itself. */
  const failuresDuring = (address: string, work: () => Promise<void>) => {
    const port = Number(new URL(platform.handle.instance.edge_url).port)
    return findFailuresDuring(work, ['three', 'site'], (slug) => getAtEdge(address, port, slug))
  }
  const waitForEdge = () =>
    until(
      async () => {
        const { nodes } = (await platform.api<{ nodes: ClusterNode[] }>('GET', '/instance/nodes')).body
        return nodes[2]?.edge === 'serving' || undefined
      },
      { what: 'an edge on node 3 that follows' },
    )
  /** Waits until a deployment is accepted, and returns its id. */
  const deployAgain = () =>
    until(
      async () => {
        const { status, body } = await platform.api<{ deployment: { id: string } }>('POST', '/v1/projects/three/deploy')
        expect(status, JSON.stringify(body)).toBe(201)
        return body.deployment.id
      },
      { what: 'a deployment that is accepted' },
    )

  beforeAll(async () => {
    swarm = await startSwarm(3)
    await swarm.load(2, 'node:24-bookworm-slim')
    platform = await startTestPlatform({
      runtime: 'swarm',
      host: '0.0.0.0',
      edge_workers: 1,
      docker_candidates: [`unix://${swarm.socket(2)}`],
      node_socket: swarm.node_socket,
      registry: swarm.registry,
    })
    for (const [slug, url] of [
      ['three', app.url],
      ['site', site.url],
    ] as const) {
      await platform.createProject({ slug, repo_url: url })
      await platform.api('PATCH', `/instance/projects/${slug}/settings`, { replicas: slug === 'site' ? 1 : 3 })
      expect(await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).toMatchObject({ status: 'ready' })
    }
    await waitForEdge()
  }, 300_000)
  afterAll(async () => {
    await platform.remove()
    await swarm.remove()
    app.remove()
    site.remove()
  }, 120_000)

  test('the leader: the next deployment is accepted and succeeds, and no GET fails', async () => {
    expect(await swarm.docker(2, ['node', 'ls', '--format', '{{.Hostname}} {{.ManagerStatus}}'])).toMatch(/1 Leader/)
    const failures = await failuresDuring(swarm.address(3), async () => {
      await swarm.run('node-kill', 1)
      const killed = performance.now()
      const id = await deployAgain()
      console.log(`accepted after ${((performance.now() - killed) / 1_000).toFixed(1)} s`)
      expect(await platform.waitForEnd('three', id)).toMatchObject({ status: 'ready' })
      console.log(`ready after ${((performance.now() - killed) / 1_000).toFixed(1)} s`)
    })
    expect(failures).toEqual([])
  })

  test('the majority: all that runs serves on, and the deployment after it is back succeeds', async () => {
    const failures = await failuresDuring(swarm.machine_address, async () => {
      await swarm.run('node-kill', 3)
      await until(
        async () => {
          const { checks } = (await platform.api<{ checks: DoctorCheck[] }>('GET', '/instance/doctor')).body
          expect(checks).toContainEqual(expect.objectContaining({ name: 'swarm', status: 'failed' }))
          return true
        },
        { what: 'a doctor who misses the quorum' },
      )
      await swarm.run('node-start', 1)
      await swarm.run('node-start', 3)
      await waitForEdge()
      expect(await platform.waitForEnd('three', await deployAgain())).toMatchObject({ status: 'ready' })
    })
    expect(failures).toEqual([])
  })
})
