import { systemClock } from '../lib/clock.ts'
import { launchBrowser } from './browser.ts'
import { type BrowserLocation, findBrowser } from './find-browser.ts'
import { enforceOrigin, captureInNewContext } from './capture-page.ts'
import { defaultScreenshotLimits, type ScreenshotLimits, type Screenshotter } from './screenshotter.ts'

/** Takes pictures with a browser of this machine; it is looked for anew each time. */
export function createChromiumScreenshotter(
  location: BrowserLocation & { data_dir: string },
  limits: ScreenshotLimits = defaultScreenshotLimits,
): Screenshotter {
  return {
    name: () => findBrowser(location) ?? null,

    async *take(request) {
      const path = findBrowser(location)
      if (path === undefined) throw new Error('There is no Chromium or Chrome on this machine.')
      request.signal.throwIfAborted()
      const browser = await launchBrowser({ ...location, path, host: new URL(request.url).hostname, endpoint: request.endpoint, limits })
      const stop = () => browser.kill(new Error('It was called off.'))
      request.signal.addEventListener('abort', stop)
      if (request.signal.aborted) stop()
      try {
        enforceOrigin(browser.devtools, request)
        for (const variant of request.variants) {
          const onTimeout = () => browser.kill(new Error(`The page was not there after ${limits.picture_ms / 1000} s.`))
          const timer = systemClock.setTimeout(onTimeout, limits.picture_ms)
          try {
            yield { variant, png: await captureInNewContext(browser.devtools, request, variant, limits) }
          } finally {
            timer.cancel()
          }
        }
      } finally {
        request.signal.removeEventListener('abort', stop)
        await browser.close()
      }
    },
  }
}
