import { systemClock } from '../lib/clock.ts'
import { launchBrowser } from './browser.ts'
import { type BrowserLocation, findBrowser } from './find-browser.ts'
import { enforceOrigin, captureInNewContext } from './capture-page.ts'
import { defaultScreenshotLimits, type ScreenshotLimits, type Screenshotter } from './screenshotter.ts'

/** Captures screenshots with a browser of this machine, which is searched for each time. */
export function createChromiumScreenshotter(
  location: BrowserLocation & { data_dir: string },
  limits: ScreenshotLimits = defaultScreenshotLimits,
): Screenshotter {
  return {
    name: () => findBrowser(location) ?? null,

    async *take(request) {
      const path = findBrowser(location)
      if (path === undefined) throw new Error('No Chromium or Chrome was found on this machine.')
      request.signal.throwIfAborted()
      const browser = await launchBrowser({ ...location, path, host: new URL(request.url).hostname, endpoint: request.endpoint, limits })
      const stop = () => browser.kill(new Error('The screenshot was canceled.'))
      request.signal.addEventListener('abort', stop)
      if (request.signal.aborted) stop()
      try {
        enforceOrigin(browser.devtools, request)
        for (const variant of request.variants) {
          const onTimeout = () => browser.kill(new Error(`The page did not load within ${limits.picture_ms / 1000} s.`))
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
