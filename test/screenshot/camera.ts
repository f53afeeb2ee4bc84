import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChromium } from '../../server/screenshot/chromium.ts'
import { limits as usual, type Limits, type Picture, type Screenshotter } from '../../server/screenshot/screenshot.ts'
import { chromiumPath } from '../support/requirements.ts'

/** A browser before an app, without a platform in between. */
export interface Camera {
  data_dir: string
  /** Where the app says it is: nothing listens there, the browser is led to its door. */
  url: string
  screenshotter: Screenshotter
  /** Paths that the app was asked for. */
  asked: string[]
  take(more?: { variants?: Picture['variant'][]; signal?: AbortSignal; path?: string }): Promise<Picture[]>
  close(): Promise<void>
}

/** What is waited for is a picture, on a machine that may be busy with other suites. */
export const patient: Limits = { ...usual, picture_ms: 60_000, start_ms: 60_000, load_ms: 30_000 }

export type App = (request: IncomingMessage, response: ServerResponse) => void

export async function setUp(
  app: App,
  more: { limits?: Partial<Limits>; chromium?: string; upgrade?: (request: IncomingMessage, socket: Duplex) => void } = {},
): Promise<Camera> {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-camera-'))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    app(request, response)
  })
  if (more.upgrade) server.on('upgrade', more.upgrade)
  const port = await listen(server)
  const url = 'http://shop.localhost:4680/'
  const screenshotter = createChromium(
    { chromium: more.chromium ?? chromiumPath ?? 'auto', home: '/', environment: process.env, data_dir },
    { ...patient, ...more.limits },
  )
  return {
    data_dir,
    url,
    screenshotter,
    asked,
    async take({ variants = ['desktop' as const], signal = new AbortController().signal, path = '' } = {}) {
      const door = { host: '127.0.0.1', port }
      return collect(screenshotter.take({ url: url + path, door, headers: {}, variants, signal }))
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
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
