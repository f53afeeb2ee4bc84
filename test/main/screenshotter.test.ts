import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { screenshotPartition, createScreenshotter } from '../../main/screenshotter.ts'
import { type BrowserProcess, launchBrowser } from '../../server/screenshots/browser.ts'
import type { CapturedScreenshot, ScreenshotRequest } from '../../server/screenshots/screenshotter.ts'
import { collect, htmlHandler, listen, patientLimits, pngSize } from '../screenshots/test-screenshotter.ts'
import { type FakeDebugger, type FakeWindow, fakeDevtools, resetFakeElectron, session, fakeElectron } from '../support/fake-electron.ts'
import { chromiumPath, requires } from '../support/requirements.ts'
import { fixedClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'

const shot = (more: Partial<ScreenshotRequest> = {}): ScreenshotRequest => ({
  url: 'http://shop.localhost:4680/',
  endpoint: { host: '127.0.0.1', port: 1 },
  headers: { 'x-homeport-probe': 'sentinel' },
  variants: ['desktop'],
  signal: new AbortController().signal,
  ...more,
})
const own = () => session.fromPartition(screenshotPartition)
const windows: FakeWindow[] = []

beforeEach(() => {
  resetFakeElectron()
  own().is_cleared = false
  windows.length = 0
})

/** Simulates a page that never loads. */
const silent = (debug: FakeDebugger) => {
  windows.push(...fakeElectron.windows.filter((window) => window.webContents.debugger === debug && !windows.includes(window)))
  return new Promise<never>(() => {})
}

describe('the screenshot window', () => {
  let controller: AbortController
  let ending: Promise<CapturedScreenshot[] | Error>
  beforeEach(async () => {
    fakeDevtools.answer = silent
    controller = new AbortController()
    ending = collect(createScreenshotter().take(shot({ signal: controller.signal }))).catch((error: Error) => error)
    await until(() => windows[0], { what: 'the window' })
  })
  afterEach(async () => {
    controller.abort()
    await ending
  })

  test('is hidden, sandboxed, isolated, and has its own session', () => {
    expect(windows[0]?.options).toMatchObject({ show: false, width: 1280, height: 800, skipTaskbar: true })
    const preferences = windows[0]?.options.webPreferences
    expect(preferences).toMatchObject({
      partition: screenshotPartition,
      offscreen: true,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
      webviewTag: false,
      disableDialogs: true,
    })
    expect(preferences?.preload).toBeUndefined()
    // Without `persist:` the session is only in memory.
    expect(screenshotPartition).not.toContain('persist')
  })

  test.each([
    ['http://shop.localhost:4680/a', false],
    ['ws://shop.localhost:4680/live', false],
    ['data:text/plain,x', false],
    ['blob:http://shop.localhost:4680/1', false],
    ['http://shop.localhost:4600/', true],
    ['https://shop.localhost:4680/', true],
    ['http://other.localhost:4680/', true],
    ['http://127.0.0.1:4680/', true],
    ['ws://127.0.0.1:4680/', true],
    ['file:///etc/passwd', true],
    ['https://example.com/', true],
  ])('%s: refused is %s', (url, isRefused) => {
    let result: { cancel?: boolean } = {}
    own().requestListener?.({ url }, (given) => (result = given))
    expect(result.cancel).toBe(isRefused)
  })

  test('does not count as a visitor: its requests carry the platform’s probe secret', () => {
    let sent: Record<string, string | string[]> = {}
    own().headers?.({ requestHeaders: { accept: '*/*' } }, ({ requestHeaders = {} }) => (sent = requestHeaders))
    expect(sent).toEqual({ accept: '*/*', 'x-homeport-probe': 'sentinel' })
  })

  test('resolves only one host, gets no permissions, downloads nothing and opens nothing', () => {
    expect(own().proxy).toMatchObject({ mode: 'fixed_servers', proxyBypassRules: '<-loopback>;shop.localhost' })
    for (const permission of ['media', 'geolocation', 'clipboard-sanitized-write', 'notifications']) {
      let isGranted: boolean | undefined
      fakeElectron.permissions.request?.(null, permission, (granted) => (isGranted = granted), { requestingUrl: 'http://shop.localhost:4680/' })
      expect([isGranted, fakeElectron.permissions.check?.(null, permission, '')]).toEqual([false, false])
    }
    let isPrevented = false
    own().emit('will-download', { preventDefault: () => (isPrevented = true) })
    expect(isPrevented).toBe(true)
    expect(windows[0]?.webContents.openHandler?.({ url: 'http://shop.localhost:4680/' })).toEqual({ action: 'deny' })
  })

  test('requests are judged as they come: its own go on, others fail', () => {
    const sent: unknown[] = []
    fakeDevtools.answer = async (_debug, method, params) => void sent.push([method, params])
    for (const [requestId, url] of [
      ['own', 'http://shop.localhost:4680/a.css'],
      ['other', 'http://127.0.0.1:4600/'],
    ])
      windows[0]?.webContents.debugger.emit('message', {}, 'Fetch.requestPaused', { requestId, request: { url }, resourceType: 'Image' }, '')
    expect(sent).toEqual([
      ['Fetch.continueRequest', { requestId: 'own' }],
      ['Fetch.failRequest', { requestId: 'other', errorReason: 'BlockedByClient' }],
    ])
  })

  test('is destroyed with its session data when canceled', async () => {
    controller.abort()
    expect(String(await ending)).toContain('canceled')
    expect(windows[0]?.is_destroyed).toBe(true)
    expect(own().is_cleared).toBe(true)
  })

  test('is destroyed when its page ends', async () => {
    windows[0]?.webContents.emit('render-process-gone', {}, { reason: 'oom' })
    expect(String(await ending)).toContain('The page crashed: oom.')
    expect(windows[0]?.is_destroyed).toBe(true)
  })
})

test('a page that never loads times out', async () => {
  fakeDevtools.answer = silent
  const clock = fixedClock('2026-01-31T12:00:00.000Z')
  const failed = expect(collect(createScreenshotter(clock).take(shot()))).rejects.toThrow('did not load within 15 s')
  await until(() => windows[0], { what: 'the window' })
  await clock.advance(15_000)
  await failed
  expect(windows[0]?.is_destroyed).toBe(true)
})

if (isFullTier)
  describe.skipIf(!requires('chromium').ok)('with a real page through the debugger', () => {
    let browser: BrowserProcess
    let folder: string
    const server = createServer(htmlHandler('<h1>Shop</h1>'))
    const events = [
      'Fetch.requestPaused',
      'Page.lifecycleEvent',
      'Network.responseReceived',
      'Page.javascriptDialogOpening',
      'Target.attachedToTarget',
    ]

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'homeport-desktop-'))
      const endpoint = { host: '127.0.0.1', port: await listen(server) }
      browser = await launchBrowser({
        path: chromiumPath ?? '',
        data_dir: folder,
        environment: process.env,
        host: 'shop.localhost',
        endpoint,
        limits: patientLimits,
      })
    })
    afterEach(async () => {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    })

    test('takes both screenshots in their sizes', async () => {
      const pages = new Map<FakeDebugger, Promise<string>>()
      const open = async (debug: FakeDebugger): Promise<string> => {
        const { targetId } = await browser.devtools.send('Target.createTarget', { url: 'about:blank' })
        const page = String((await browser.devtools.send('Target.attachToTarget', { targetId, flatten: true })).sessionId)
        for (const event of events) browser.devtools.on(event, (params, of) => debug.emit('message', {}, event, params, of === page ? '' : of))
        return page
      }
      fakeDevtools.answer = async (debug, method, params, of) => {
        const page = pages.get(debug) ?? open(debug)
        pages.set(debug, page)
        return browser.devtools.send(method, { ...params }, of ?? (await page))
      }
      const pictures = await collect(createScreenshotter().take(shot({ variants: ['desktop', 'mobile'] })))
      expect(pictures.map(({ variant, png }) => [variant, ...pngSize(png)])).toEqual([
        ['desktop', 1280, 800],
        ['mobile', 390, 844],
      ])
      expect(fakeElectron.windows).toEqual([])
    })
  })
