import { afterAll, describe, expect, test } from 'vitest'
import { createDockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'

describe.skipIf(!requires('docker').ok)('an engine that starts later', () => {
  const dockerProxy = createDockerFaultProxy()
  const context = useDeploymentContext('docker', [dockerProxy.address])
  afterAll(() => dockerProxy.remove())

  test('without an engine deployments wait, and run in order once it is available', async () => {
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
})
