import { systemClock } from '../lib/clock.ts'
import { launchBrowser } from './browser.ts'
import { type BrowserPlace, findBrowser } from './find-browser.ts'
import { guard, takePictureApart } from './page.ts'
import { limits as usual, type Limits, type Screenshotter } from './screenshot.ts'

/** Takes pictures with a browser of this machine; it is looked for anew each time. */
export function createChromium(place: BrowserPlace & { data_dir: string }, limits: Limits = usual): Screenshotter {
  return {
    name: () => findBrowser(place) ?? null,

    async *take(shot) {
      const path = findBrowser(place)
      if (path === undefined) throw new Error('There is no Chromium or Chrome on this machine.')
      shot.signal.throwIfAborted()
      const browser = await launchBrowser({ ...place, path, host: new URL(shot.url).hostname, door: shot.door, limits })
      const stop = () => browser.kill(new Error('It was called off.'))
      shot.signal.addEventListener('abort', stop)
      if (shot.signal.aborted) stop()
      try {
        guard(browser.devtools, shot)
        for (const variant of shot.variants) {
          const giveUp = () => browser.kill(new Error(`The page was not there after ${limits.picture_ms / 1000} s.`))
          const late = systemClock.setTimeout(giveUp, limits.picture_ms)
          try {
            yield { variant, png: await takePictureApart(browser.devtools, shot, variant, limits) }
          } finally {
            late.cancel()
          }
        }
      } finally {
        shot.signal.removeEventListener('abort', stop)
        await browser.close()
      }
    },
  }
}
