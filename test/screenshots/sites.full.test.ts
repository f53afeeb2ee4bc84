import { existsSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChromiumScreenshotter } from '../../server/screenshots/chromium.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { chromiumPath, requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { listen, patientLimits, pngSize } from './test-screenshotter.ts'
import { serveScreenshotter } from './fake-screenshotter.ts'
import { fetchScreenshot, waitForScreenshots } from './screenshot-requests.ts'

const page = (title: string, style: string, body: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style><body>${body}</body></html>`

describe.skipIf(!requires('chromium').ok)('real sites, by the browser of this machine', () => {
  let platform: TestPlatform
  let served: Awaited<ReturnType<typeof serveScreenshotter>>
  const seen: string[] = []
  const ids: Record<string, string> = {}
  const canary = createServer((request, response) => {
    seen.push(request.url ?? '')
    response.end()
  })

  beforeAll(async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
    served = await serveScreenshotter(
      createChromiumScreenshotter({ chromium: chromiumPath ?? 'auto', home: '/', environment: process.env, data_dir }, patientLimits),
    )
    platform = await startTestPlatform({ runtime: 'process', data_dir, host_module: served.host_module })
    const port = await listen(canary)
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
      const repository = makeRepository(files)
      await platform.createProject({ slug, repo_url: repository.url })
      ids[slug] = (await platform.deploy(slug)).id
      expect((await platform.waitForEnd(slug, ids[slug])).error).toBeNull()
      await waitForScreenshots(platform, slug, ids[slug])
      repository.remove()
    }
  })
  afterAll(async () => {
    await platform.remove()
    served.close()
    canary.close()
  })

  test.each(['desktop', 'mobile'])('%s: differ from a blank page and from each other', async (variant) => {
    const pictures = await Promise.all(Object.entries(ids).map(([slug, id]) => fetchScreenshot(platform, slug, id, variant)))
    for (const { status, bytes } of pictures) {
      expect(status).toBe(200)
      expect(pngSize(bytes)).toEqual(variant === 'desktop' ? [1280, 800] : [390, 844])
      expect(bytes.length).toBeLessThan(300_000)
    }
    expect(new Set(pictures.map(({ bytes }) => bytes.toString('base64'))).size).toBe(4)
  })

  test('nothing of another origin was requested', () => expect(seen).toEqual([]))

  test('a screenshot is not a visit', async () => {
    for (const slug of Object.keys(ids)) {
      const { body } = await platform.api<{ totals: { requests: number } }>('GET', `/v1/projects/${slug}/metrics?range=24h`)
      expect(body.totals.requests, slug).toBe(0)
      expect((await platform.getProject(slug)).last_request_at).toBeNull()
    }
  })

  test('no browser process or folder is left', async () => {
    await until(() => !existsSync(join(platform.data_dir, 'browser')) || undefined, { what: 'the end of the browser' })
    expect(platform.log.filter((line) => line.includes('screenshot'))).toEqual([])
  })

  test('the doctor names the browser', async () => {
    const own = await startTestPlatform({ runtime: 'process', screenshots: true })
    const { body } = await own.api<{ checks: { name: string; status: string }[] }>('GET', '/instance/doctor')
    expect(body.checks.find(({ name }) => name === 'screenshots')).toMatchObject({ status: 'ok', message: chromiumPath })
    await own.remove()
  })
})
