import { describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { ScalingDecision } from '../../server/contract/autoscaling.ts'
import type { Service } from '../../server/contract/services.ts'
import { holdRequests } from '../support/held-requests.ts'
import { until } from '../support/until.ts'
import { useDeploymentContext } from './deployment-suite.ts'

/** Answers with its version; the answer to `/hold` never ends. */
const server = (version: string, config = '') => ({
  'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
  'server.js': `
require('node:http').createServer((request, response) => {
  if (request.url === '/hold') response.write('held')
  else response.end('${version}')
}).listen(process.env.PORT, process.env.HOST)
`,
  ...(config === '' ? {} : { 'homeport.yaml': config }),
})

describe('autoscaling', () => {
  const context = useDeploymentContext('process')
  const patch = (slug: string, settings: object) => context.platform.api('PATCH', `/instance/projects/${slug}/settings`, settings)
  const listDecisions = async (slug: string) =>
    (await context.platform.api<{ decisions: ScalingDecision[] }>('GET', `/instance/projects/${slug}/scaling-decisions`)).body.decisions
  const readMain = async (slug: string) =>
    (await context.platform.api<{ services: Service[] }>('GET', `/instance/projects/${slug}/services`)).body.services.find(({ is_main }) => is_main)
  /** Moves the clock until the app has this many running replicas. */
  const scalesTo = (slug: string, count: number, step_ms = 1_000) =>
    until(
      async () => {
        await context.platform.advanceInSteps(step_ms)
        const replicas = (await readMain(slug))?.replicas ?? []
        return (replicas.length === (count === 1 ? 0 : count) && replicas.every(({ status }) => status === 'running')) || undefined
      },
      { what: `${count} replicas of ${slug}` },
    )
  const hold = (slug: string, count: number) => holdRequests(context.platform.handle.edge_url, `${slug}.localhost`, count)

  test('the number of replicas follows the open requests, each change has its reason, and the next version starts with as many', async () => {
    const repository = await context.projectWith('elastic', server('one'))
    expect((await patch('elastic', { autoscaling: { min: 1, max: 3, target_concurrency: 2 } })).status).toBe(200)
    await context.deployReady('elastic')
    expect((await readMain('elastic'))?.autoscaling).toEqual({ min: 1, max: 3, target_concurrency: 2 })
    const release = hold('elastic', 9)
    await scalesTo('elastic', 3)
    const [newest] = await listDecisions('elastic')
    expect(newest).toMatchObject({ to: 3, reason: 'load_above_target', target_concurrency: 2 })
    expect(newest?.message).toMatch(/^Scaled from [12] to 3: [\d.]+ concurrent requests for [12] replicas?, target 2\b/)
    // New requests go to the replicas that have fewer.
    expect((await context.platform.fetchEdge('elastic.localhost')).body).toBe('one')

    repository.commit(server('two'))
    const { build_log } = await context.deployReady('elastic')
    expect(build_log).toContain('Starting 2 more replicas.')
    expect((await context.platform.fetchEdge('elastic.localhost')).body).toBe('two')
    release()
    await scalesTo('elastic', 1, 4_000)
    const [last] = await listDecisions('elastic')
    expect(last).toMatchObject({ to: 1, reason: 'load_below_target' })
    expect(last?.message).toMatch(/^Scaled from [23] to 1: at most [\d.]+ concurrent requests for [23] replicas, target 2, for 60 s\.$/)
  })

  fullTest('a changed range applies at once, and without autoscaling the number stays', async () => {
    await context.projectWith('ranged', server('one'))
    await context.deployReady('ranged')
    await patch('ranged', { autoscaling: { min: 2, max: 4, target_concurrency: 100 } })
    await scalesTo('ranged', 2)
    await patch('ranged', { autoscaling: null })
    await context.platform.advanceInSteps(120_000)
    expect((await readMain('ranged'))?.replicas).toHaveLength(2)
    expect((await patch('ranged', { autoscaling: { min: 4, max: 2, target_concurrency: 1 } })).body).toMatchObject({
      issues: [{ path: 'autoscaling.max', message: 'The maximum is less than the minimum.' }],
    })
  })

  fullTest('an idle app sleeps and wakes with its replicas, and then scales again', async () => {
    await context.projectWith('sleepy', server('one'))
    await patch('sleepy', { autoscaling: { min: 2, max: 3, target_concurrency: 2 } })
    await context.deployReady('sleepy')
    await until(
      async () => {
        await context.platform.advanceInSteps(60_000)
        return (await context.platform.getProject('sleepy')).is_cold || undefined
      },
      { what: 'the app to sleep' },
    )
    await context.platform.advanceInSteps(60_000)
    expect((await readMain('sleepy'))?.replicas.map(({ status }) => status)).toEqual(['asleep', 'asleep'])
    expect((await context.platform.fetchEdge('sleepy.localhost')).body).toBe('one')
    const release = hold('sleepy', 7)
    await scalesTo('sleepy', 3)
    release()
  })

  fullTest('a plan with fewer replicas bounds those of a configuration file', async () => {
    await context.projectWith('bounded', server('one', 'services:\n  web: { replicas: 5 }\n'))
    expect((await context.platform.api('PATCH', '/instance/settings', { plan: 'starter' })).status).toBe(200)
    const { build_log } = await context.deployReady('bounded')
    await context.platform.api('PATCH', '/instance/settings', { plan: 'enterprise' })
    expect(build_log).toContain('Warning: web runs at most 2 replicas and not 5, because the plan of this account allows no more.')
    expect((await readMain('bounded'))?.replicas).toHaveLength(2)
  })

  fullTest('a configuration file sets the range', async () => {
    await context.projectWith('listed-range', server('one', 'services:\n  web: { autoscaling: { min: 2, max: 3, target_concurrency: 5 } }\n'))
    const { build_log } = await context.deployReady('listed-range')
    expect(build_log).toContain('2 to 3 replicas')
    await scalesTo('listed-range', 2)
    const release = hold('listed-range', 20)
    await scalesTo('listed-range', 3)
    release()
    expect((await listDecisions('listed-range'))[0]).toMatchObject({ from: 2, to: 3, target_concurrency: 5 })
  })
})
