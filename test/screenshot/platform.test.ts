import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { createChromium } from '../../server/screenshot/chromium.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { chromiumPath, requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { listen, patient, sizeOf } from './camera.ts'
import { createFakeScreenshotter, serveScreenshotter } from './fake-screenshotter.ts'

const repositories: Repository[] = []
function makeSite(files: Record<string, string>): string {
  const repository = makeRepository(files)
  repositories.push(repository)
  return repository.url
}
afterAll(() => {
  for (const repository of repositories) repository.remove()
})

const page = (title: string, style: string, body: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style><body>${body}</body></html>`

async function pictureOf(
  home: TestPlatform,
  slug: string,
  id: string,
  variant: string,
): Promise<{ status: number; type: string | null; kept: string | null; bytes: Buffer }> {
  const answer = await fetch(`${home.platform.api_url}/v1/projects/${slug}/deployments/${id}/screenshot/${variant}.png`, {
    headers: { authorization: `Bearer ${home.platform.instance.token}` },
  })
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    kept: answer.headers.get('cache-control'),
    bytes: Buffer.from(await answer.arrayBuffer()),
  }
}

/** Waits until both are there, as the deployment says itself. */
const taken = (home: TestPlatform, slug: string, id: string) =>
  until(
    async () => {
      const { screenshots } = await home.deployment(slug, id)
      return (screenshots.desktop && screenshots.mobile) || undefined
    },
    { what: `both pictures of ${slug}` },
  )

describe.skipIf(!requires('chromium').ok)('three real sites', () => {
  let home: TestPlatform
  let served: Awaited<ReturnType<typeof serveScreenshotter>>
  const seen: string[] = []
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
    served = await serveScreenshotter(createChromium({ chromium: chromiumPath ?? 'auto', home: '/', environment: process.env, data_dir }, patient))
    home = await startTestPlatform({ runtime: 'process', data_dir, host_module: served.host_module })
    const { createServer } = await import('node:http')
    const canary = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.end()
    })
    const port = await listen(canary)
    canary.unref()
    const sites: Record<string, Record<string, string>> = {
      blank: { 'index.html': page('Blank', '', '<p hidden>nothing</p>') },
      garden: {
        'index.html': page(
          'Garden',
          'body{margin:0;background:#164}h1{color:#fff;font:700 72px sans-serif}',
          `<h1>Garden</h1><img src="http://127.0.0.1:${port}/pixel">`,
        ),
      },
      paper: {
        'index.html': page('Paper', '@import "style.css";', '<main><h1>Paper</h1><p>Words.</p></main><script src="app.js"></script>'),
        'style.css': 'main{columns:2;font:20px serif;padding:40px}',
        'app.js': 'document.querySelector("main").append("x ".repeat(900))',
      },
      harbour: {
        'package.json': JSON.stringify({ name: 'harbour', private: true, scripts: { start: 'node server.js' } }),
        'server.js': `require('node:http').createServer((q, r) => { r.setHeader('content-type', 'text/html'); r.end(${JSON.stringify(page('Harbour', 'body{background:linear-gradient(#08f,#fff)}', '<h1>Harbour</h1><button>Sail</button>'))}) }).listen(process.env.PORT)`,
      },
    }
    for (const [slug, files] of Object.entries(sites)) {
      await home.createProject({ slug, repo_url: makeSite(files) })
      ids[slug] = (await home.deploy(slug)).id
    }
    for (const [slug, id] of Object.entries(ids)) {
      expect((await home.ended(slug, id)).error).toBeNull()
      await taken(home, slug, id)
    }
    canary.close()
  })
  afterAll(async () => {
    await home.remove()
    served.close()
  })

  test.each(['desktop', 'mobile'])('%s: differ from a blank page and from each other', async (variant) => {
    const pictures = await Promise.all(Object.entries(ids).map(([slug, id]) => pictureOf(home, slug, id, variant)))
    for (const { status, type, bytes } of pictures) {
      expect([status, type]).toEqual([200, 'image/png'])
      expect(sizeOf(bytes)).toEqual(variant === 'desktop' ? [1280, 800] : [390, 844])
      expect(bytes.length).toBeLessThan(300_000)
    }
    expect(new Set(pictures.map(({ bytes }) => bytes.toString('base64'))).size).toBe(4)
  })

  test('nothing of another origin was asked for', () => expect(seen).toEqual([]))

  test('a picture is no visit', async () => {
    for (const slug of Object.keys(ids)) {
      const { body } = await home.api<{ metrics?: unknown; totals?: { requests: number } }>('GET', `/v1/projects/${slug}/metrics?range=24h`)
      expect(body.totals?.requests, slug).toBe(0)
      expect((await home.project(slug)).last_request_at).toBeNull()
    }
  })

  test('no browser, no folder of one, is left', async () => {
    await until(() => !existsSync(join(home.data_dir, 'browser')) || undefined, { what: 'the end of the browser' })
    const warnings = home.log.filter((line) => line.includes('screenshot'))
    expect(warnings).toEqual([])
  })

  test('the doctor names the browser', async () => {
    const { body } = await home.api<{ checks: { name: string; status: string }[] }>('GET', '/instance/doctor')
    expect(body.checks.find(({ name }) => name === 'screenshots')).toMatchObject({ status: 'ok' })
  })

  test('a project that is deleted takes its pictures along', async () => {
    const project = await home.project('paper')
    const folder = join(home.data_dir, 'screenshots', project.id)
    expect(readdirSync(folder).toSorted()).toEqual([`${ids.paper}-desktop.png`, `${ids.paper}-mobile.png`])
    await home.api('DELETE', '/v1/projects/paper')
    await until(() => !existsSync(folder) || undefined, { what: 'the pictures to go' })
  })
})

describe('when they are taken', () => {
  let home: TestPlatform
  let served: Awaited<ReturnType<typeof serveScreenshotter>>
  const camera = createFakeScreenshotter()
  const server = (name: string) => ({
    'package.json': JSON.stringify({ name: 'app', private: true, scripts: { start: 'node server.js' } }),
    'server.js': `let asked = 0; require('node:http').createServer((q, r) => r.end(q.url === '/asked' ? String(asked) : (asked++, '${name}'))).listen(process.env.PORT)`,
  })
  let slug = ''
  let count = 0
  const deployed = async (): Promise<Deployment> => {
    slug = `app-${++count}`
    await home.createProject({ slug, repo_url: makeSite(server(slug)) })
    return again()
  }
  const again = async (): Promise<Deployment> => {
    const { id } = await home.deploy(slug)
    return home.ended(slug, id)
  }

  beforeAll(async () => {
    served = await serveScreenshotter(camera)
    home = await startTestPlatform({ runtime: 'process', host_module: served.host_module })
  })
  afterEach(() => camera.reset())
  afterAll(async () => {
    await home.remove()
    served.close()
  })

  test('after a deployment is ready, and the dashboard is told', async () => {
    const events: string[] = []
    const controller = new AbortController()
    const stream = await fetch(`${home.platform.api_url}/instance/events`, {
      headers: { authorization: `Bearer ${home.platform.instance.token}` },
      signal: controller.signal,
    })
    void (async () => {
      const decoder = new TextDecoder()
      for await (const chunk of stream.body!) events.push(decoder.decode(chunk))
    })().catch(() => {})
    const { id } = await deployed()
    expect((await pictureOf(home, slug, id, 'other')).status).toBe(404)
    await taken(home, slug, id)
    await until(() => events.join('').includes('"screenshots":{"desktop":true,"mobile":true}') || undefined, { what: 'the event' })
    controller.abort()
    expect(await pictureOf(home, slug, id, 'desktop')).toMatchObject({ status: 200, type: 'image/png', kept: 'private, max-age=86400' })
    expect((await pictureOf(home, slug, id, 'desktop')).bytes.toString()).toBe(
      `desktop of http://${slug}.localhost:${new URL(home.platform.edge_url).port}`,
    )
    const refused = await home.api<{ error: string }>('GET', `/v1/projects/${slug}/deployments/${id}/screenshot/tablet.png`)
    expect([refused.status, refused.body.error]).toEqual([404, 'screenshot_not_found'])
    expect(camera.shots.map((shot) => [...shot.variants])).toEqual([['desktop', 'mobile']])
  })

  test('404 until they are', async () => {
    const open = camera.hold()
    const { id } = await deployed()
    const refused = await home.api<{ error: string }>('GET', `/v1/projects/${slug}/deployments/${id}/screenshot/desktop.png`)
    expect([refused.status, refused.body.error]).toEqual([404, 'screenshot_not_found'])
    open()
    await taken(home, slug, id)
  })

  test('one at a time; the newest of a project takes the turn of those before it, and what no longer serves is called off', async () => {
    const open = camera.hold()
    const first = await deployed()
    await until(() => camera.open === 1 || undefined, { what: 'the first' })
    const second = await again()
    await until(() => camera.aborted === 1 || undefined, { what: 'the first to be called off' })
    const third = await again()
    open()
    await taken(home, slug, third.id)
    expect(camera.most).toBe(1)
    for (const { id } of [first, second]) expect((await home.deployment(slug, id)).screenshots).toEqual({ desktop: false, mobile: false })
  })

  test('once more when it fails, and not again', async () => {
    camera.failures = 9
    await deployed()
    await until(() => camera.shots.length === 2 || undefined, { what: 'two tries' })
    await home.api('PATCH', `/v1/projects/${slug}`, { name: 'Other' })
    await deployed()
    const shotsOf = (number: number) => camera.shots.filter((shot) => shot.url.includes(`app-${number}.`))
    // Both of its tries too, lest one of them comes in the next test.
    await until(() => shotsOf(count).length === 2 || undefined, { what: 'two tries of the next' })
    expect(shotsOf(count - 1)).toHaveLength(2)
  })

  test('a second try takes what is missing', async () => {
    camera.failAfter = 1
    const { id } = await deployed()
    await until(async () => (await home.deployment(slug, id)).screenshots.desktop || undefined, { what: 'the first picture' })
    await taken(home, slug, id)
    expect(camera.shots.map((shot) => [...shot.variants])).toEqual([['desktop', 'mobile'], ['mobile']])
  })

  test('an app that sleeps when its turn comes is not woken, and is taken when somebody else has', async () => {
    const open = camera.hold()
    await deployed()
    await until(() => camera.open === 1 || undefined, { what: 'somebody before the camera' })
    await home.api('PATCH', '/instance/settings', { sleep_after_s: 1, frozen_for_s: 0 })
    const { id } = await deployed()
    await until(async () => (await home.project(slug)).is_cold || undefined, { what: 'its sleep' })
    await home.api('PATCH', '/instance/settings', { sleep_after_s: 900 })
    open()
    await until(() => camera.open === 0 || undefined, { what: 'its turn' })
    // A further look at it, for whatever reason, does not wake it either.
    await home.api('PATCH', `/v1/projects/${slug}`, { name: 'Sleeper' })
    const sleeper = slug
    await taken(home, `app-${count + 1}`, (await deployed()).id)
    expect((await home.project(sleeper)).is_cold).toBe(true)
    expect(camera.shots.filter((shot) => shot.url.includes(`${sleeper}.`))).toEqual([])
    await home.edge(`${sleeper}.localhost`)
    await taken(home, sleeper, id)
  })

  test('not when the setting says no', async () => {
    await home.api('PATCH', '/instance/settings', { screenshots: false })
    await deployed()
    await deployed()
    expect(camera.shots).toEqual([])
    await home.api('PATCH', '/instance/settings', { screenshots: true })
    await taken(home, `app-${count + 1}`, (await deployed()).id)
  })

  test('a door of the edge is open for a picture and no longer', async () => {
    const open = camera.hold()
    const { id } = await deployed()
    const shot = await until(() => camera.shots[0], { what: 'the picture' })
    const ask = () => fetch(`http://127.0.0.1:${shot.door.port}/asked`, { headers: { connection: 'close' } }).then((answer) => answer.status)
    // Node’s fetch names the address itself: the edge knows no app by that name.
    expect(await ask()).toBe(404)
    open()
    await taken(home, slug, id)
    await until(
      () =>
        ask().then(
          () => undefined,
          () => true,
        ),
      { what: 'the door to be shut' },
    )
  })
})

test('a start takes up what the last run left, for what serves and is awake', async () => {
  const camera = createFakeScreenshotter()
  const repo_url = makeSite({ 'index.html': page('Site', '', '<h1>Site</h1>') })
  const { host_module, close } = await serveScreenshotter(camera)
  let home = await startTestPlatform({ runtime: 'process', host_module })
  try {
    const open = camera.hold()
    await home.createProject({ slug: 'site', repo_url })
    const { id } = await home.ended('site', (await home.deploy('site')).id)
    await until(() => camera.open === 1 || undefined, { what: 'the picture' })
    await home.platform.stop()
    expect(camera.open).toBe(0)
    open()
    home = await startTestPlatform({ runtime: 'process', data_dir: home.data_dir, host_module })
    await taken(home, 'site', id)
    // A picture that was lost is taken again, and what nobody knows of goes.
    const folder = join(home.data_dir, 'screenshots', (await home.project('site')).id)
    await home.platform.stop()
    rmSync(join(folder, `${id}-mobile.png`))
    camera.reset()
    home = await startTestPlatform({ runtime: 'process', data_dir: home.data_dir, host_module })
    await until(() => existsSync(join(folder, `${id}-mobile.png`)) || undefined, { what: 'the lost picture' })
    expect(camera.shots.map((shot) => [...shot.variants])).toEqual([['mobile']])
  } finally {
    await home.remove()
    close()
  }
})
