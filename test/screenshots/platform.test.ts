import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { createFakeScreenshotter, serveScreenshotter } from './fake-screenshotter.ts'
import { fetchScreenshot, waitForScreenshots } from './screenshot-requests.ts'
import { fullTest } from '../support/full-test.ts'

/* The platform with its store, its edge and its events; screenshots.test.ts covers when each screenshot is taken. */

const site = makeRepository({ 'index.html': '<h1>Site</h1>' })
const app = makeRepository({
  'package.json': JSON.stringify({ name: 'app', private: true, scripts: { start: 'node server.js' } }),
  'server.js': "require('node:http').createServer((q, r) => r.end('app')).listen(process.env.PORT)",
})
const camera = createFakeScreenshotter()
let served: Awaited<ReturnType<typeof serveScreenshotter>>
let platform: TestPlatform

beforeAll(async () => {
  served = await serveScreenshotter(camera)
  platform = await startTestPlatform({ runtime: 'process', host_module: served.host_module })
})
beforeEach(() => camera.reset())
afterAll(async () => {
  await platform.remove()
  served.close()
  site.remove()
  app.remove()
})

async function deployed(slug: string, repo_url: string): Promise<string> {
  await platform.createProject({ slug, repo_url })
  const { id, error } = await platform.waitForEnd(slug, (await platform.deploy(slug)).id)
  expect(error).toBeNull()
  return id
}

test('404 until they exist', async () => {
  const release = camera.hold()
  const id = await deployed('site', site.url)
  const path = `/v1/projects/site/deployments/${id}/screenshot`
  for (const variant of ['desktop', 'tablet']) {
    const refused = await platform.api<{ error: string }>('GET', `${path}/${variant}.png`)
    expect([refused.status, refused.body.error]).toEqual([404, 'screenshot_not_found'])
  }
  release()
  await waitForScreenshots(platform, 'site', id)
})

test('after a deployment is ready, and the dashboard is notified', async () => {
  const controller = new AbortController()
  const stream = await fetch(`${platform.handle.api_url}/instance/events`, {
    headers: { authorization: `Bearer ${platform.handle.instance.token}` },
    signal: controller.signal,
  })
  let events = ''
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of stream.body!) events += decoder.decode(chunk, { stream: true })
  })().catch(() => {})
  const release = camera.hold()
  const id = await deployed('shop', app.url)
  const { endpoint } = await until(() => camera.shots[0], { what: 'the picture' })
  const ask = () => fetch(`http://127.0.0.1:${endpoint.port}/`, { headers: { connection: 'close' } }).then((answer) => answer.status)
  // fetch uses the address itself as host, and the edge has no app for that.
  expect(await ask()).toBe(404)
  release()
  // Of this deployment, because the event of the previous one's screenshots may arrive only now.
  const tells = (event: string) => event.includes(id) && event.includes('"screenshots":{"desktop":true,"mobile":true}')
  await until(() => events.split('\n\n').some(tells) || undefined, { what: 'the dashboard to be notified' })
  controller.abort()
  expect(await fetchScreenshot(platform, 'shop', id, 'desktop')).toEqual({
    status: 200,
    type: 'image/png',
    cache: 'private, max-age=86400',
    bytes: Buffer.from(`desktop of http://shop.localhost:${new URL(platform.handle.edge_url).port}`),
  })
  await until(
    () =>
      ask().then(
        () => undefined,
        () => true,
      ),
    { what: 'the door to be closed' },
  )
})

fullTest('a sleeping app is captured once a visitor has woken it', async () => {
  const release = camera.hold()
  await platform.deploy('site')
  await until(() => camera.open === 1 || undefined, { what: 'a picture of another project' })
  const { id } = await platform.waitForEnd('shop', (await platform.deploy('shop')).id)
  await platform.api('PATCH', '/instance/settings', { sleep_after_s: 60 })
  await until(async () => (await platform.advance(60_000), (await platform.getProject('shop')).is_cold || undefined), { what: 'its sleep' })
  release()
  await deployed('later', site.url).then((later) => waitForScreenshots(platform, 'later', later))
  expect((await platform.getProject('shop')).is_cold).toBe(true)
  expect(camera.shots.filter((shot) => shot.url.includes('//shop.'))).toEqual([])
  await platform.fetchEdge('shop.localhost')
  await waitForScreenshots(platform, 'shop', id)
})

fullTest('a start takes missing screenshots, and a deleted project removes its own', async () => {
  const release = camera.hold()
  const id = await deployed('left', site.url)
  await until(() => camera.open === 1 || undefined, { what: 'the picture' })
  await platform.handle.stop()
  await until(() => camera.open === 0 || undefined, { what: 'the end of what was being taken' })
  release()
  const restart = async () => {
    platform = await startTestPlatform({ runtime: 'process', data_dir: platform.data_dir, host_module: served.host_module })
    await until(async () => (await platform.fetchEdge('left.localhost')).status === 200 || undefined, { what: 'the site to be served again' })
    // A deployment that did not serve yet when its turn came is retried after 5 s.
    await platform.advance(5_000)
  }
  await restart()
  await waitForScreenshots(platform, 'left', id)
  const folder = join(platform.data_dir, 'screenshots', (await platform.getProject('left')).id)
  await platform.handle.stop()
  rmSync(join(folder, `${id}-mobile.png`))
  camera.reset()
  await restart()
  await until(() => existsSync(join(folder, `${id}-mobile.png`)) || undefined, { what: 'the lost picture' })
  expect(camera.shots.map((shot) => [...shot.variants])).toEqual([['mobile']])
  await platform.api('DELETE', '/v1/projects/left')
  await until(() => !existsSync(folder) || undefined, { what: 'the pictures to go' })
})
