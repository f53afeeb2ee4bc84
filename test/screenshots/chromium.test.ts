import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { killProcess } from '../../server/runtime/process/process-group.ts'
import { fullTest } from '../support/full-test.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'
import {
  type AppHandler,
  findBrowserProcesses,
  type TestScreenshotter,
  htmlHandler,
  type SharedBrowser,
  pngSize,
  startTestScreenshotter,
  startSharedBrowser,
} from './test-screenshotter.ts'
import { expectNoOtherOrigin } from './other-origin-checks.ts'

describe.skipIf(!requires('chromium').ok)('a page', () => {
  let browser: SharedBrowser
  beforeAll(async () => void (browser = await startSharedBrowser()))
  afterAll(() => browser.close())

  fullTest('is captured after late resources, without waiting for endless ones', async () => {
    const loaded = Promise.withResolvers<void>()
    browser.serve((request, response) => {
      if (request.url === '/events') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n')
      if (request.url === '/late') return void loaded.promise.then(() => response.end('"#0a0"'))
      if (request.url === '/loaded') {
        loaded.resolve()
        return void response.end()
      }
      htmlHandler(
        `<body><script>new EventSource('/events'); addEventListener('load', () => fetch('/loaded')); fetch('/late').then((r) => r.json()).then((c) => { document.body.style.background = c; fetch('/painted') })</script>`,
      )(request, response)
    })
    await browser.take()
    expect(browser.requests).toContain('/painted')
  })

  const captured: [string, AppHandler][] = [
    ['the app’s own 404', htmlHandler('<h1>Nothing here</h1>', 404)],
    [
      'a redirect within the app',
      (request, response) => {
        if (request.url === '/') return void response.writeHead(302, { location: '/home' }).end()
        htmlHandler(request.url === '/home' ? '<h1>Home</h1>' : '')(request, response)
      },
    ],
  ]
  test.each(captured.slice(0, isFullTier ? 2 : 1))('is captured with %s', async (_, app) => {
    browser.serve(app)
    expect(pngSize(await browser.take())).toEqual([1280, 800])
  })

  const refused: [string, AppHandler, RegExp][] = [
    ['an app error', htmlHandler('<h1>Oh no</h1>', 503), /responded with 503/],
    ['an empty page', htmlHandler(''), /empty/],
    ['a redirect to elsewhere', (_, response) => void response.writeHead(302, { location: 'http://example.com/' }).end(), /another address/],
  ]
  test.each(refused.slice(0, isFullTier ? 3 : 1))('is not captured with %s, and the error has the reason', async (_, app, why) => {
    browser.serve(app)
    await expect(browser.take()).rejects.toThrow(why)
  })

  test('never reaches other origins, whatever it requests', () =>
    expectNoOtherOrigin(browser, ['canary.localhost', '127.0.0.1', 'shop.localhost'], 2_000))

  fullTest('can open WebSockets to its own app', async () => {
    const upgraded: string[] = []
    browser.serve(htmlHandler(`<h1>x</h1><script>new WebSocket('ws://' + location.host + '/live')</script>`), (request, socket) => {
      upgraded.push(request.url ?? '')
      socket.destroy()
    })
    await browser.take()
    expect(upgraded).toEqual(['/live'])
  })

  fullTest('is captured as it is when a resource never arrives', async () => {
    browser.serve((request, response) => {
      if (request.url !== '/never') htmlHandler('<h1>There</h1><img src="/never">')(request, response)
    })
    expect(pngSize(await browser.take('desktop', { load_ms: 500, quiet_ms: 100 }))).toEqual([1280, 800])
  })
})

describe.skipIf(!requires('chromium').ok)('a browser of this machine', () => {
  let camera: TestScreenshotter
  afterEach(async () => {
    await until(() => findBrowserProcesses(camera.data_dir).length === 0 || undefined, { what: 'the end of every process of the browser' })
    expect(readdirSync(camera.data_dir)).toEqual([])
    await camera.close()
  })

  test('takes both screenshots in their sizes, with a mobile layout for the phone', async () => {
    const paint = `<body style="margin:0"><script>document.body.style.background = innerWidth < 500 ? '#00f' : '#f00'; fetch('/seen?' + [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0, matchMedia('(prefers-reduced-motion)').matches])</script>`
    camera = await startTestScreenshotter(htmlHandler(paint))
    const pictures = await camera.take({ variants: ['desktop', 'mobile'] })
    expect(pictures.map(({ variant, png }) => [variant, ...pngSize(png)])).toEqual([
      ['desktop', 1280, 800],
      ['mobile', 390, 844],
    ])
    expect(camera.requests.filter((path) => path.startsWith('/seen'))).toEqual(['/seen?1280,800,1,false,true', '/seen?390,844,1,true,true'])
    expect(Buffer.from(pictures[0]!.png).equals(Buffer.from(pictures[1]!.png))).toBe(false)
  })

  fullTest('is killed when the page does not load in time', async () => {
    camera = await startTestScreenshotter(() => {}, { limits: { picture_ms: 1500 } })
    await expect(camera.take()).rejects.toThrow('did not load within 1.5 s')
  })

  fullTest('that is killed fails the screenshot at once; the next one works', async () => {
    camera = await startTestScreenshotter(() => {
      camera.serve(htmlHandler('<h1>x</h1>'))
      // Some exit by themselves when the first one does.
      for (const pid of findBrowserProcesses(camera.data_dir)) killProcess(Number(pid))
    })
    await expect(camera.take()).rejects.toThrow('exited')
    expect(await camera.take()).toHaveLength(1)
  })

  fullTest('is killed at once when canceled', async () => {
    const controller = new AbortController()
    camera = await startTestScreenshotter(() => controller.abort())
    await expect(camera.take({ signal: controller.signal })).rejects.toThrow('canceled')
  })
})

describe('an unusable browser', () => {
  const script = (text: string) => (data_dir: string) => {
    writeFileSync(join(data_dir, 'fake'), `#!/bin/sh\n${text}\n`)
    chmodSync(join(data_dir, 'fake'), 0o755)
    return join(data_dir, 'fake')
  }

  test('is killed when it does not start in time', async () => {
    const camera = await startTestScreenshotter(htmlHandler('x'), { limits: { start_ms: 500 }, chromium: script('sleep 1000; exit') })
    await expect(camera.take()).rejects.toThrow(/did not start.*did not start within 0.5 s/)
    await until(() => findBrowserProcesses(camera.data_dir).length === 0 || undefined, { what: 'its end' })
    await camera.close()
  })

  test('is reported with its last output when it exits', async () => {
    const camera = await startTestScreenshotter(htmlHandler('x'), { chromium: script('echo No usable sandbox >&2; exit 1') })
    await expect(camera.take()).rejects.toThrow('No usable sandbox')
    await camera.close()
  })

  test('is not searched when screenshots are off', async () => {
    const camera = await startTestScreenshotter(htmlHandler('x'), { chromium: () => 'off' })
    expect(camera.screenshotter.name()).toBeNull()
    await expect(camera.take()).rejects.toThrow('No Chromium')
    expect(existsSync(join(camera.data_dir, 'browser'))).toBe(false)
    await camera.close()
  })
})
