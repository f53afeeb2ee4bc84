import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { type DeploymentContext, useDeploymentContext } from './deployment-suite.ts'
import { replicasSuite } from './replicas-suite.ts'

describe('replicas as processes', () => {
  const context = useDeploymentContext('process')
  replicasSuite(context)
  fixedPortSuite(context)
})

/** Without Docker all replicas listen on the addresses of one machine. */
function fixedPortSuite(context: DeploymentContext): void {
  const findFreePort = () =>
    new Promise<number>((resolve) => {
      const found = createServer().listen(0, '127.0.0.1', () => {
        const { port } = found.address() as AddressInfo
        found.close(() => resolve(port))
      })
    })

  fullTest('an app that listens on a fixed port is refused with several replicas, and runs with one', async () => {
    const port = await findFreePort()
    await context.projectWith('fixed', {
      'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
      'server.js': `require('node:http').createServer((request, response) => response.end('fixed')).listen(${port}, '127.0.0.1')`,
    })
    const scale = (replicas: number) => context.platform.api('PATCH', '/instance/projects/fixed/settings', { replicas })
    await scale(2)
    const failed = await context.deployAndWait('fixed')
    expect(failed).toMatchObject({
      status: 'failed',
      error: {
        code: 'start_failed',
        message: `The app listens on port ${port} and not on the one in the PORT variable, so this machine can run one replica of it, not 2.`,
      },
    })
    await scale(1)
    await context.deployReady('fixed')
    // The setting does not change a live version that cannot have several.
    await scale(3)
    expect((await context.platform.fetchEdge('fixed.localhost')).body).toBe('fixed')
  })
}
