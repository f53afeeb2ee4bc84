import Docker from 'dockerode'
import { createEngineGate } from '../support/engine-gate.ts'
import { startTestPlatform } from '../support/platform.ts'
import { dockerSocket, requires } from '../support/requirements.ts'
import { expect, test } from './fixtures.ts'
import { signIn } from './stage.ts'

/** Answers with the headers that it was asked with. */
const mirror = {
  'package.json': JSON.stringify({ name: 'mirror', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((q, r) => r.end(JSON.stringify(q.headers))).listen(process.env.PORT)`,
}

for (const [engine, publishes] of [
  ['reached over TCP', true],
  ['of this machine', false],
] as const)
  test(`an app of an engine ${engine} gets no session of a browser`, { tag: '@docker' }, async ({ page, repository }) => {
    test.skip(!requires('docker').ok, 'no Docker')
    const gate = createEngineGate()
    const docker_candidates = publishes ? [await gate.openTcp()] : undefined
    const home = await startTestPlatform({ runtime: 'docker', ...(docker_candidates && { docker_candidates }) })
    await home.createProject({ slug: 'mirror', repo_url: repository(mirror).url })
    const { id } = await home.deploy('mirror')
    expect(await home.ended('mirror', id)).toMatchObject({ status: 'ready', error: null })
    const filters = { label: [`homeport.deployment=${id}`] }
    const [container] = await new Docker({ socketPath: dockerSocket }).listContainers({ filters })
    const published = (container?.Ports ?? []).filter(({ IP, PublicPort }) => PublicPort && IP === '127.0.0.1').map(({ PublicPort }) => PublicPort)
    expect(published.length).toBe(publishes ? 1 : 0)

    await signIn(page, await home.platform.signInUrl())
    const session = await page.evaluate(() => localStorage.getItem('homeport.session') ?? 'none')
    const { port, hostname } = new URL(home.platform.edge_url)
    for (const address of [`http://mirror.localhost:${port}/`, ...published.map((one) => `http://${hostname}:${one}/`)]) {
      await page.goto(address)
      const headers = await page.locator('body').innerText()
      expect(headers).toContain('"host"')
      expect(headers).not.toContain(session)
      expect(headers).not.toContain('"cookie"')
    }
    await page.goto(home.platform.dashboard_url)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Sign in to Homeport' })).toBeHidden()
    await home.remove()
    await gate.remove()
  })
