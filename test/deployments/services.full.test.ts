import { describe, expect, test } from 'vitest'
import { until } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { type DeploymentContext, useDeploymentContext } from './deployment-suite.ts'
import { shop } from './services-suite.ts'

/** The release command: it migrates for a moment, fails, or hangs until the deployment is canceled. */
const releases = {
  migrates: `setTimeout(() => console.log('migrated'), 150)`,
  fails: `process.exit(4)`,
  hangs: `console.log('hanging'); setInterval(() => {}, 1000)`,
}

function trafficSuite(context: DeploymentContext): void {
  test('20 deployments with releases that migrate, fail or hang, under traffic on both addresses: no request fails', async () => {
    const repository = await context.projectWith('busy-shop', shop('v0'))
    await context.deployReady('busy-shop')
    const answers = new Map<string, number>()
    let isStopped = false
    const request = async (host: string) => {
      while (!isStopped) {
        const response = await context.platform.fetchEdge(host).catch((error: unknown) => ({ status: 0, body: String(error) }))
        const isGood = response.status === 200 && !response.body.includes('Error')
        const seen = isGood ? 'good' : `${host} ${response.status} ${response.body.slice(0, 200)}`
        answers.set(seen, (answers.get(seen) ?? 0) + 1)
      }
    }
    const visitors = ['busy-shop.localhost', 'busy-shop.localhost', 'api--busy-shop.localhost', 'api--busy-shop.localhost'].map(request)
    let live = 'v0'
    for (let round = 1; round <= 20; round++) {
      const kind = (['migrates', 'fails', 'migrates', 'hangs'] as const)[round % 4]!
      repository.commit({ ...shop(`v${round}`), 'release.js': releases[kind] })
      const { id } = await context.platform.deploy('busy-shop')
      if (kind === 'hangs') {
        await until(async () => (await context.platform.getDeployment('busy-shop', id)).build_log.includes('hanging') || undefined, {
          what: 'the release to hang',
        })
        await context.platform.api('POST', `/v1/projects/busy-shop/deployments/${id}/cancel`)
      }
      const { status } = await context.platform.waitForEnd('busy-shop', id)
      expect([round, kind, status]).toEqual([round, kind, { migrates: 'ready', fails: 'failed', hangs: 'canceled' }[kind]])
      if (kind === 'migrates') live = `v${round}`
      const home = JSON.parse((await context.platform.fetchEdge('busy-shop.localhost')).body) as { version: string; api: string }
      expect([home.version, home.api]).toEqual([live, `api ${live}`])
    }
    isStopped = true
    await Promise.all(visitors)
    expect([...answers.keys()]).toEqual(['good'])
    console.log(`${answers.get('good')} requests, 0 failed`)
  })
}

describe('releases under traffic on process', () => trafficSuite(useDeploymentContext('process')))
describe.skipIf(!requires('docker').ok)('releases under traffic on Docker', () => trafficSuite(useDeploymentContext('docker')))
