import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { launchBrowser } from '../../server/screenshot/browser.ts'
import { createChromium } from '../../server/screenshot/chromium.ts'
import { guard, takePictureApart } from '../../server/screenshot/page.ts'
import { limits as usual, type Limits, type Picture, type Screenshotter } from '../../server/screenshot/screenshot.ts'
import { chromiumPath } from '../support/requirements.ts'

/** No bounds but the runner's, and no lower priority: a machine that is busy with other tests would leave the browser no time at all. */
export const patient: Limits = { ...usual, picture_ms: 600_000, start_ms: 600_000, load_ms: 30_000, niceness: 0 }
/** Where the app says it is: nothing listens there, the browser is led to its door. */
export const url = 'http://shop.localhost:4680/'

export type App = (request: IncomingMessage, response: ServerResponse) => void
type Upgrade = (request: IncomingMessage, socket: Duplex) => void

/** An app that a test can replace, without a platform in front. */
interface TestApp {
  /** Paths that it was asked for since it was replaced. */
  asked: string[]
  serve(app: App, upgrade?: Upgrade): void
  door: { host: string; port: number }
  close(): Promise<void>
}

async function startApp(): Promise<TestApp> {
  let answer: App = () => {}
  let upgraded: Upgrade = (_, socket) => socket.destroy()
  const server = createServer((request, response) => {
    app.asked.push(request.url ?? '')
    answer(request, response)
  }).on('upgrade', (request, socket) => upgraded(request, socket))
  const app: TestApp = {
    asked: [],
    serve(next, upgrade) {
      app.asked = []
      answer = next
      if (upgrade) upgraded = upgrade
    },
    door: { host: '127.0.0.1', port: await listen(server) },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return app
}

/** The browser of a whole test file: each picture is of the app that the test serves, in a context of its own. */
export interface SharedBrowser extends TestApp {
  take(variant?: Picture['variant'], limits?: Partial<Limits>): Promise<Uint8Array>
}

export async function startSharedBrowser(): Promise<SharedBrowser> {
  const app = await startApp()
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-camera-'))
  const options = { path: chromiumPath ?? '', data_dir, environment: process.env, host: new URL(url).hostname, door: app.door, limits: patient }
  const browser = await launchBrowser(options)
  guard(browser.devtools, { url })
  return Object.assign(app, {
    take: (variant: Picture['variant'] = 'desktop', limits: Partial<Limits> = {}) =>
      takePictureApart(browser.devtools, { url }, variant, { ...patient, ...limits }),
    close: ((close) => async () => {
      await browser.close()
      await close()
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    })(app.close),
  })
}

/** The product's screenshotter, which starts a browser for each call of `take`. */
export interface Camera extends TestApp {
  data_dir: string
  screenshotter: Screenshotter
  take(more?: { variants?: Picture['variant'][]; signal?: AbortSignal }): Promise<Picture[]>
}

export async function startCamera(answer: App, more: { limits?: Partial<Limits>; chromium?: (data_dir: string) => string } = {}): Promise<Camera> {
  const app = await startApp()
  app.serve(answer)
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-camera-'))
  const chromium = more.chromium?.(data_dir) ?? chromiumPath ?? 'auto'
  const screenshotter = createChromium({ chromium, home: '/', environment: process.env, data_dir }, { ...patient, ...more.limits })
  return Object.assign(app, {
    data_dir,
    screenshotter,
    take: ({ variants = ['desktop' as const], signal = new AbortController().signal } = {}) =>
      collect(screenshotter.take({ url, door: app.door, headers: {}, variants, signal })),
    close: ((close) => async () => {
      await close()
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    })(app.close),
  })
}

export async function collect(pictures: AsyncIterable<Picture>): Promise<Picture[]> {
  const all: Picture[] = []
  for await (const picture of pictures) all.push(picture)
  return all
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

export const html =
  (body: string, status = 200): App =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<!doctype html><meta name="viewport" content="width=device-width">${body}`)

/** Width and height, as a PNG says them itself. */
export function sizeOf(png: Uint8Array): [number, number] {
  const bytes = Buffer.from(png)
  if (bytes.toString('latin1', 1, 4) !== 'PNG') throw new Error('This is no PNG.')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

/** Processes of browsers that use a folder. */
export function browsersOf(data_dir: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(data_dir)
    } catch {
      return false
    }
  })
}
