import Docker from 'dockerode'
import { createDockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { startTestPlatform } from '../support/platform.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { expect, test } from './fixtures.ts'
import { signIn } from './screen-navigation.ts'

/** Responds with the received request headers. */
const mirror = {
  'package.json': JSON.stringify({ name: 'mirror', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((q, r) => r.end(JSON.stringify(q.headers))).listen(process.env.PORT)`,
}

for (const [engine, publishes] of [
  ['reached over TCP', true],
  ['of this machine', false],
] as const)
  test(`an app of an engine ${engine} receives no session of a browser`, { tag: '@docker' }, async ({ page, createRepository }) => {
    test.skip(!requires('docker').ok, 'no Docker')
    const dockerProxy = createDockerFaultProxy()
    const docker_candidates = publishes ? [await dockerProxy.openTcp()] : undefined
    const platform = await startTestPlatform({ runtime: 'docker', ...(docker_candidates && { docker_candidates }) })
    await platform.createProject({ slug: 'mirror', repo_url: createRepository(mirror).url })
    const { id } = await platform.deploy('mirror')
    expect(await platform.waitForEnd('mirror', id)).toMatchObject({ status: 'ready', error: null })
    const filters = { label: [`homeport.deployment=${id}`] }
    const [container] = await new Docker({ socketPath: dockerSocket }).listContainers({ filters })
    const published = (container?.Ports ?? []).filter(({ IP, PublicPort }) => PublicPort && IP === '127.0.0.1').map(({ PublicPort }) => PublicPort)
    expect(published.length).toBe(publishes ? 1 : 0)

    await signIn(page, await platform.handle.signInUrl())
    const session = await page.evaluate(() => localStorage.getItem('homeport.session') ?? 'none')
    const { port, hostname } = new URL(platform.handle.edge_url)
    for (const address of [`http://mirror.localhost:${port}/`, ...published.map((one) => `http://${hostname}:${one}/`)]) {
      await page.goto(address)
      const headers = await page.locator('body').innerText()
      expect(headers).toContain('"host"')
      expect(headers).not.toContain(session)
      expect(headers).not.toContain('"cookie"')
    }
    await page.goto(platform.handle.dashboard_url)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Sign in to Homeport' })).toBeHidden()
    await platform.remove()
    await dockerProxy.remove()
  })
