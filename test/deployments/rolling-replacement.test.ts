import { describe, expect } from 'vitest'
import type { ScalingDecision } from '../../server/contract/autoscaling.ts'
import { fullTest } from '../support/full-test.ts'
import { holdRequests } from '../support/held-requests.ts'
import { until } from '../support/until.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { identityServer, rollingSuite } from './rolling-suite.ts'

/** Replicas that are processes share the folder of their version, so that the second start can see the first. */
const failsSecond = `try { require('node:fs').writeFileSync('started', '', { flag: 'wx' }) } catch { process.exit(1) }`

describe('processes on a machine with little memory', () => {
  const context = useDeploymentContext('process', undefined, new URL('./low-memory-host.ts', import.meta.url).href)

  describe('rolling replacement', () => rollingSuite(context, (version) => identityServer(version, failsSecond)))

  fullTest('autoscaling starts nothing that memory does not hold, and says so once', async () => {
    const server = `
const used = Buffer.alloc(100e6, 1)
require('node:http').createServer((request, response) => request.url === '/hold' ? response.write('held') : response.end(String(used.length)))
  .listen(process.env.PORT, process.env.HOST)`
    await context.projectWith('large', { 'package.json': '{"private":true,"scripts":{"start":"node server.js"}}', 'server.js': server })
    await context.platform.api('PATCH', '/instance/projects/large/settings', { autoscaling: { min: 1, max: 4, target_concurrency: 2 } })
    await context.deployReady('large')
    const listDecisions = async () =>
      (await context.platform.api<{ decisions: ScalingDecision[] }>('GET', '/instance/projects/large/scaling-decisions')).body.decisions
    const release = holdRequests(context.platform.handle.edge_url, 'large.localhost', 8)
    await until(
      async () => {
        await context.platform.advanceInSteps(1_000)
        return (await listDecisions())[0]
      },
      { what: 'a decision' },
    )
    await context.platform.advanceInSteps(10_000)
    release()
    const decisions = await listDecisions()
    expect(decisions).toMatchObject([{ from: 1, to: 1, reason: 'memory' }])
    expect(decisions[0]?.message).toMatch(/^Stayed at 1: .* The load needs [234], and the memory of this machine holds no more than 1\.$/)
  })
})
