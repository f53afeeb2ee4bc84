import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { launchBrowser } from '../../server/screenshots/browser.ts'
import { createChromiumScreenshotter } from '../../server/screenshots/chromium.ts'
import { enforceOrigin, captureInNewContext } from '../../server/screenshots/capture-page.ts'
import {
  defaultScreenshotLimits as usual,
  type ScreenshotLimits,
  type CapturedScreenshot,
  type Screenshotter,
} from '../../server/screenshots/screenshotter.ts'
import { chromiumPath } from '../support/requirements.ts'

/** No time limits but the runner's, and normal priority, because a busy machine would leave the browser no time at all. */
export const patientLimits: ScreenshotLimits = { ...usual, picture_ms: 600_000, start_ms: 600_000, load_ms: 30_000, niceness: 0 }
/** The app's declared address, on which nothing listens: the browser is redirected to its probe endpoint. */
export const url = 'http://shop.localhost:4680/'

export type AppHandler = (request: IncomingMessage, response: ServerResponse) => void
type Upgrade = (request: IncomingMessage, socket: Duplex) => void

/** An app that a test can replace, without a platform in front. */
interface TestApp {
  /** Requested paths since the app was replaced. */
  requests: string[]
  serve(app: AppHandler, upgrade?: Upgrade): void
  endpoint: { host: string; port: number }
  close(): Promise<void>
}

async function startApp(): Promise<TestApp> {
  let answer: AppHandler = () => {}
  let upgraded: Upgrade = (_, socket) => socket.destroy()
  const server = createServer((request, response) => {
    app.requests.push(request.url ?? '')
    answer(request, response)
  }).on('upgrade', (request, socket) => upgraded(request, socket))
  const app: TestApp = {
    requests: [],
    serve(next, upgrade) {
      app.requests = []
      answer = next
      if (upgrade) upgraded = upgrade
    },
    endpoint: { host: '127.0.0.1', port: await listen(server) },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return app
}

/** The browser of a whole test file: each screenshot is of the app that the test serves, in its own context. */
export interface SharedBrowser extends TestApp {
  take(variant?: CapturedScreenshot['variant'], limits?: Partial<ScreenshotLimits>): Promise<Uint8Array>
}

export async function startSharedBrowser(): Promise<SharedBrowser> {
  const app = await startApp()
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-camera-'))
  const options = {
    path: chromiumPath ?? '',
    data_dir,
    environment: process.env,
    host: new URL(url).hostname,
    endpoint: app.endpoint,
    limits: patientLimits,
  }
  const browser = await launchBrowser(options)
  enforceOrigin(browser.devtools, { url })
  return Object.assign(app, {
    take: (variant: CapturedScreenshot['variant'] = 'desktop', limits: Partial<ScreenshotLimits> = {}) =>
      captureInNewContext(browser.devtools, { url }, variant, { ...patientLimits, ...limits }),
    close: ((close) => async () => {
      await browser.close()
      await close()
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    })(app.close),
  })
}

/** The product's screenshotter, which starts a browser for each call of `take`. */
export interface TestScreenshotter extends TestApp {
  data_dir: string
  screenshotter: Screenshotter
  take(more?: { variants?: CapturedScreenshot['variant'][]; signal?: AbortSignal }): Promise<CapturedScreenshot[]>
}

export async function startTestScreenshotter(
  answer: AppHandler,
  more: { limits?: Partial<ScreenshotLimits>; chromium?: (data_dir: string) => string } = {},
): Promise<TestScreenshotter> {
  const app = await startApp()
  app.serve(answer)
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-camera-'))
  const chromium = more.chromium?.(data_dir) ?? chromiumPath ?? 'auto'
  const screenshotter = createChromiumScreenshotter({ chromium, home: '/', environment: process.env, data_dir }, { ...patientLimits, ...more.limits })
  return Object.assign(app, {
    data_dir,
    screenshotter,
    take: ({ variants = ['desktop' as const], signal = new AbortController().signal } = {}) =>
      collect(screenshotter.take({ url, endpoint: app.endpoint, headers: {}, variants, signal })),
    close: ((close) => async () => {
      await close()
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    })(app.close),
  })
}

export async function collect(pictures: AsyncIterable<CapturedScreenshot>): Promise<CapturedScreenshot[]> {
  const all: CapturedScreenshot[] = []
  for await (const picture of pictures) all.push(picture)
  return all
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

export const htmlHandler =
  (body: string, status = 200): AppHandler =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<!doctype html><meta name="viewport" content="width=device-width">${body}`)

/** Width and height from the PNG header. */
export function pngSize(png: Uint8Array): [number, number] {
  const bytes = Buffer.from(png)
  if (bytes.toString('latin1', 1, 4) !== 'PNG') throw new Error('This is no PNG.')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

/** Processes of browsers that use a folder. */
export function findBrowserProcesses(data_dir: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(data_dir)
    } catch {
      return false
    }
  })
}
