import { afterAll, describe, expect, test } from 'vitest'
import { newId } from '../../server/lib/id.ts'
import { fullTest } from '../support/full-test.ts'
import { createDockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { coreDeploymentSuite, useDeploymentContext } from './deployment-suite.ts'

describe.skipIf(!requires('docker').ok)('deployments on Docker', () => {
  const dockerProxy = createDockerFaultProxy()
  const context = useDeploymentContext('docker', [dockerProxy.address])
  afterAll(() => dockerProxy.remove())

  fullTest('without an engine deployments wait, and run in order once it is available', async () => {
    const slugs = ['one', 'two']
    await context.platform.api('PATCH', '/instance/settings', { build_concurrency: 1 })
    const ids: string[] = []
    for (const slug of slugs) {
      await context.projectWith(slug, tinyServer(slug))
      ids.push((await context.platform.deploy(slug)).id)
    }
    for (const [index, slug] of slugs.entries())
      expect(await context.platform.getDeployment(slug, ids[index] ?? '')).toMatchObject({ status: 'queued', queue_position: index + 1, error: null })
    await dockerProxy.open()
    await context.platform.advance(2_000)
    const ended = await Promise.all(slugs.map((slug, index) => context.platform.waitForEnd(slug, ids[index] ?? '')))
    expect(ended.map(({ status }) => status)).toEqual(['ready', 'ready'])
    expect((ended[0]?.started_at ?? '') < (ended[1]?.started_at ?? '')).toBe(true)
    for (const slug of slugs) expect((await context.platform.fetchEdge(`${slug}.localhost`)).body).toBe(slug)
  })

  test('a build secret is mounted into the steps of a Dockerfile, and the log does not show it', async () => {
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
