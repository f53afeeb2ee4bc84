import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Screenshotter, ScreenshotRequest } from '../../server/screenshots/screenshotter.ts'
import { listen } from './test-screenshotter.ts'

export interface FakeScreenshotter extends Screenshotter {
  shots: ScreenshotRequest[]
  /** Running captures, and their maximum so far. */
  open: number
  most: number
  aborted: number
  /** How many of the next captures fail. */
  failures: number
  /** The next one fails after this number of screenshots; -1: it does not. */
  failAfter: number
  /** Every capture waits until released. */
  hold(): () => void
  reset(): void
}

/** Records the screenshots that it would have taken. */
export function createFakeScreenshotter(): FakeScreenshotter {
  let held: Promise<void> = Promise.resolve()
  const camera: FakeScreenshotter = {
    shots: [],
    open: 0,
    most: 0,
    aborted: 0,
    failures: 0,
    failAfter: -1,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    reset() {
      Object.assign(camera, { shots: [], most: 0, aborted: 0, failures: 0, failAfter: -1 })
      held = Promise.resolve()
    },
    name: () => 'a fake',
    async *take(shot) {
      camera.shots.push(shot)
      camera.open++
      camera.most = Math.max(camera.most, camera.open)
      try {
        await Promise.race([held, called(shot.signal)])
        if (shot.signal.aborted) camera.aborted++
        shot.signal.throwIfAborted()
        if (camera.failures-- > 0) throw new Error('The page is empty.')
        let count = 0
        for (const variant of shot.variants) {
          if (count++ === camera.failAfter) {
            camera.failAfter = -1
            throw new Error('The browser exited.')
          }
          yield { variant, png: Buffer.from(`${variant} of ${new URL(shot.url).origin}`) }
        }
      } finally {
        camera.open--
      }
    },
  }
  return camera
}

const called = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))

/** Serves the screenshotter to a platform in its own process, which is given `host_module`. */
export async function serveScreenshotter(screenshotter: Screenshotter): Promise<{ host_module: string; close(): void }> {
  const server = createServer((request, response) => {
    const controller = new AbortController()
    // A response that starts at once has no time limit.
    response.flushHeaders()
    response.on('close', () => controller.abort(new Error('The screenshot was canceled.')))
    const send = (line: object) => response.write(`${JSON.stringify(line)}\n`)
    void (async () => {
      try {
        const shot = JSON.parse(await text(request)) as Omit<ScreenshotRequest, 'signal'>
        for await (const { variant, png } of screenshotter.take({ ...shot, signal: controller.signal }))
          send({ picture: { variant, png: Buffer.from(png).toString('base64') } })
      } catch (error) {
        send({ error: error instanceof Error ? error.message : String(error) })
      }
      response.end()
    })()
  })
  const address = `http://127.0.0.1:${await listen(server)}/`
  return {
    host_module: new URL(`screenshotter-host.ts?address=${encodeURIComponent(address)}`, import.meta.url).href,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
