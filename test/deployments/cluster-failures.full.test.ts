import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DoctorCheck } from '../../server/contract/instance.ts'
import { deployWithReplicas, hostNameApp, platformOnNode, waitForNodeEdge, withNodeEdges } from '../support/cluster.ts'
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
  const app = makeRepository(hostNameApp)
  const site = makeRepository({ 'index.html': 'a static site' })

  /** Of GETs at the edge of the third node, or of Homeport itself. */
  const failuresDuring = (address: string, work: () => Promise<void>) => {
    const port = Number(new URL(platform.handle.instance.edge_url).port)
    return findFailuresDuring(work, ['three', 'site'], (slug) => getAtEdge(address, port, slug))
  }
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
    platform = await startTestPlatform({ ...platformOnNode(swarm, 2), ...withNodeEdges })
    await deployWithReplicas(platform, 'three', app.url, 3)
    await deployWithReplicas(platform, 'site', site.url, 1)
    await waitForNodeEdge(platform, 3)
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
      await waitForNodeEdge(platform, 3)
      expect(await platform.waitForEnd('three', await deployAgain())).toMatchObject({ status: 'ready' })
    })
    expect(failures).toEqual([])
  })
})
