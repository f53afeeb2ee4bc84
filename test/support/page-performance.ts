import type { BrowserContext, Page, Request } from '@playwright/test'
import { until } from './until.ts'

/** How smoothly the page rendered during an interval, as measured in the page. */
interface FrameStatistics {
  frames: number
  median_ms: number
  p95_ms: number
  /** Frames that took longer than two frames at 60 Hz. */
  dropped: number
  /** The longest task of the main thread. Tasks under 50 ms are not reported and count as 0. */
  longest_task_ms: number
}

interface PerformanceRecord {
  tasks: number[]
  shifts: { value: number; who: string[] }[]
  frames: number[]
  /** Processes entries that the observer has not delivered yet. */
  flushShifts(): void
}

declare global {
  interface Window {
    homeportPerformance: PerformanceRecord
  }
}

/** Open requests of recorded pages. Streams stay open. */
const pendingRequests = new Set<Request>()
const isStream = (request: Request) => request.headers().accept === 'text/event-stream'

/** Must be called before a page is opened. Records long tasks and layout shifts. */
export async function recordPerformance(pages: Page | BrowserContext): Promise<void> {
  const context = 'pages' in pages ? pages : pages.context()
  context.on('request', (request) => isStream(request) || pendingRequests.add(request))
  for (const end of ['requestfinished', 'requestfailed'] as const) context.on(end as 'requestfinished', (request) => pendingRequests.delete(request))
  await pages.addInitScript(() => {
    const seen: PerformanceRecord = { tasks: [], shifts: [], frames: [], flushShifts: () => note(observer.takeRecords()) }
    window.homeportPerformance = seen
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })
    const note = (entries: PerformanceEntryList) => {
      for (const entry of entries) {
        const shift = entry as PerformanceEntry & { value: number; hadRecentInput: boolean; sources?: { node?: Node | null }[] }
        if (shift.hadRecentInput) continue
        const who = (shift.sources ?? []).map(({ node }) => (node instanceof Element ? `${node.tagName.toLowerCase()}.${node.className}` : 'text'))
        seen.shifts.push({ value: shift.value, who })
      }
    }
    const observer = new PerformanceObserver((list) => note(list.getEntries()))
    observer.observe({ type: 'layout-shift', buffered: true })
    let before = 0
    const onFrame = (now: number) => {
      if (before > 0) seen.frames.push(now - before)
      before = now
      requestAnimationFrame(onFrame)
    }
    requestAnimationFrame(onFrame)
  })
}

/** Measures the frames of the page during an action. */
export async function measureFrames(page: Page, act: () => Promise<unknown>): Promise<FrameStatistics> {
  await page.evaluate(() => {
    window.homeportPerformance.frames = []
    window.homeportPerformance.tasks = []
  })
  await act()
  // Long tasks are reported shortly after they end.
  const { frames, tasks } = await page.evaluate(
    () => new Promise<PerformanceRecord>((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(window.homeportPerformance), 100))),
  )
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity
  return {
    frames: frames.length,
    median_ms: at(0.5),
    p95_ms: at(0.95),
    dropped: frames.filter((frame) => frame > 33.4).length,
    longest_task_ms: Math.max(0, ...tasks),
  }
}

/** Layout shifts since the page was opened or since the last call: their sum and their elements. */
export async function takeLayoutShifts(page: Page): Promise<{ sum: number; who: string[] }> {
  const shifts = await page.evaluate(() => {
    window.homeportPerformance.flushShifts()
    return window.homeportPerformance.shifts.splice(0)
  })
  return {
    sum: shifts.reduce((sum, { value }) => sum + value, 0),
    who: [...new Set(shifts.flatMap(({ value, who }) => who.map((one) => `${one} (${value.toFixed(3)})`)))],
  }
}

/** Waits until the page is idle: late content (figures, images, scripts of other pages) has arrived and there are no open requests. */
export const waitUntilIdle = (page: Page): Promise<boolean> =>
  until(
    async () => {
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve))))
      const open = [...pendingRequests].filter((request) => request.frame().page() === page)
      if (open.length > 0) throw new Error(`open requests: ${open.map((request) => `${request.method()} ${request.url()}`).join(', ')}`)
      return true
    },
    { what: 'a page without open requests' },
  )

/** Milliseconds from an action of the user (a key, a click) until its result is painted. `isThere` runs in the page. */
export async function measureInteraction(page: Page, act: () => Promise<unknown>, isThere: string): Promise<number> {
  const elapsed_ms = page.evaluate(
    (source) =>
      new Promise<number>((resolve) => {
        // oxlint-disable-next-line no-implied-eval, no-new-func -- our own words, in a page of ours
        const isPainted = new Function(`return (${source})`) as () => unknown
        let began = 0
        const start = (event: Event) => {
          began = event.timeStamp
          const onFrame = () => {
            // The task after a frame's callbacks runs when the frame is painted.
            if (isPainted()) setTimeout(() => resolve(performance.now() - began))
            else requestAnimationFrame(onFrame)
          }
          requestAnimationFrame(onFrame)
        }
        for (const type of ['keydown', 'pointerdown']) window.addEventListener(type, start, { capture: true, once: true })
      }),
    isThere,
  )
  // The listeners must be registered first.
  await page.evaluate(() => new Promise(requestAnimationFrame))
  await act()
  return elapsed_ms
}

/** Scrolls under the pointer with the mouse wheel, as quickly as a user does. */
export async function scrollByWheel(page: Page, times: number, delta: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await page.mouse.wheel(0, delta)
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
}
