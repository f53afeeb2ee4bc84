import { describe, expect } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { fullTest } from '../support/full-test.ts'
import { requires } from '../support/requirements.ts'
import { coreDeploymentSuite, useSharedDeploymentContext } from './deployment-suite.ts'

describe.skipIf(!requires('docker').ok)('deployments on Docker', () => {
  const context = useSharedDeploymentContext('docker')

  fullTest('a build secret is mounted into the steps of a Dockerfile, and the log does not show it', async () => {
    const secret = 'HPSENT_of_the_build'
    await context.projectWith('sealed', {
      Dockerfile: [
        'FROM node:24-bookworm-slim',
        'COPY server.js .',
        // A cached step of the engine prints nothing.
        `RUN --mount=type=secret,id=SECRET : ${newId('evt')}; cat /run/secrets/SECRET && wc -c < /run/secrets/SECRET > /length`,
        'CMD ["node", "server.js"]',
      ].join('\n'),
      'server.js': `require('http').createServer((q, r) => r.end(require('fs').readFileSync('/length', 'utf8').trim())).listen(process.env.PORT)`,
    })
    const body = { key: 'SECRET', value: secret, is_write_only: true, is_build_secret: true }
    expect((await context.platform.api('POST', '/instance/projects/sealed/env-vars', body)).status).toBe(201)
    const { build_log } = await context.deployReady('sealed')
    expect(build_log).toContain('••••••')
    expect(build_log).not.toContain(secret)
    expect((await context.platform.fetchEdge('sealed.localhost')).body).toBe(String(secret.length))
  })

  coreDeploymentSuite(context, 'docker')
})
