import { type Browser, type Page, chromium } from '@playwright/test'
import { makeRepository } from '../support/repository.ts'
import { chromiumPath } from '../support/requirements.ts'
import { waitUntilIdle, measureInteraction, measureFrames, takeLayoutShifts, scrollByWheel, recordPerformance } from '../support/page-performance.ts'
import { type BenchInstance, startInstance } from './instance.ts'
import { type BenchRow, median } from './row.ts'
import { bigProject, createBenchStore } from './store.ts'

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ ...(chromiumPath ? { executablePath: chromiumPath } : {}), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })

export const sizes = [
  { width: 1280, height: 820 },
  { width: 390, height: 844 },
]
const lines = 100_000
const floodApp = {
  'package.json': JSON.stringify({ name: 'flood', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
  'build.js': `for (let line = 0; line < ${lines}; line++) console.log('\\x1b[32mcompiled\\x1b[0m module ' + line + ' of the fleet, with its sails and its anchors')`,
  'server.js': "require('http').createServer((q, r) => r.end('ok')).listen(process.env.PORT, '127.0.0.1')",
}

/**
 * The dashboard over 10 000 projects, 5 000 deployments of one of them and a log of 100 000 lines, in a real browser: scrolling,
 * the latency of keys and clicks, and the time to the first screen. Medians of rounds; a scroll has `turns` turns of the wheel.
 */
export async function benchDashboard(options: { rounds?: number; turns?: number } = {}): Promise<BenchRow[]> {
  const { rounds = 3, turns = 120 } = options
  const { data } = await createBenchStore({ deployments: 15_000 })
  const instance = await startInstance({ runtime: 'process', data })
  const repository = makeRepository(floodApp)
  const browser = await launchBrowser()
  const figures = new Map<string, { unit: string; bar: string; holds: (value: number) => boolean; values: number[] }>()
  const note = (name: string, unit: string, value: number, bar: string, holds: (value: number) => boolean) => {
    const figure = figures.get(name) ?? { unit, bar, holds, values: [] }
    figure.values.push(value)
    figures.set(name, figure)
  }
  try {
    await instance.client.createProject({ slug: 'flood', repo_url: repository.url })
    const { id } = await instance.client.waitForEnd('flood', (await instance.client.deploy('flood')).id)
    for (let round = 0; round < rounds; round++) {
      for (const viewport of sizes) {
        const at = (name: string) => `dashboard ${viewport.width}: ${name}`
        const under = (ms: number) => (value: number) => value < ms
        const scrolls = (name: string, pace: Awaited<ReturnType<typeof measureFrames>>) => {
          note(at(`${name}, frame`), 'ms', pace.median_ms, 'under 17.5 ms', under(17.5))
          note(at(`${name}, frames over two turns`), '%', (100 * pace.dropped) / pace.frames, 'under 5 %', under(5))
          note(at(`${name}, longest task`), 'ms', pace.longest_task_ms, 'under 50 ms', under(50))
        }
        const answers = (name: string, ms: number) => note(at(name), 'ms', ms, 'under 100 ms', under(100))
        const { page, dashboardUrl, close } = await openDashboard(browser, instance, viewport)
        try {
          const paint = await measureFirstPaint(page, dashboardUrl)
          note(at('first screen, painted'), 'ms', paint.painted_ms, 'under 500 ms', under(500))
          note(at('first screen, script'), 'kB', paint.script_kb, 'under 350 kB', under(350))
          note(at('first screen, shift'), '', paint.shift, 'under 0.02', under(0.02))
          const again = await measureFirstPaint(page, dashboardUrl)
          note(at('first screen again, painted'), 'ms', again.painted_ms, 'under 500 ms', under(500))

          const search = page.getByRole('searchbox', { name: 'Search projects' })
          await search.focus()
          const firstSearch = await measureInteraction(page, () => typeText(page, 'project-42'), mainShows('Project 42'))
          answers('first search among 10 000', firstSearch)
          await page.getByText(/of 10,001 projects/).waitFor({ timeout: 60_000 })
          // The next search starts from the whole list, so that leftovers of the previous one are not taken for its result.
          const clear = async () => {
            await search.fill('')
            await page.getByText(/newest projects/).waitFor()
            await waitUntilIdle(page)
          }
          await clear()
          for (const words of ['7', '77', 'git.example.com/team/project-99'])
            answers(
              'search among 10 000',
              await measureInteraction(page, () => typeText(page, words), mainShows(' of 10,001 projects')).finally(clear),
            )
          // A user scrolls to the end, after which all rows are loaded.
          while (!(await page.getByText(/^10,001 projects/).isVisible()))
            await page.evaluate(() => {
              window.scrollTo(0, document.documentElement.scrollHeight)
              return new Promise(requestAnimationFrame)
            })
          await page.evaluate(() => window.scrollTo(0, 0))
          await page.mouse.move(viewport.width / 2, 500)
          scrolls('projects, wheel', await measureFrames(page, () => scrollByWheel(page, turns, 400)))
          scrolls('projects, jumps', await measureFrames(page, () => jumpScroll(page, 'html', turns / 3)))
          await page.evaluate(() => window.scrollTo(0, 0))

          await page.keyboard.press('Control+k')
          await page.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox').waitFor()
          answers(
            'palette, search',
            await measureInteraction(
              page,
              () => typeText(page, '9876'),
              "document.querySelector('[role=dialog]')?.textContent.includes('Project 9876')",
            ),
          )
          await page.keyboard.press('Escape')

          await page.goto(`${dashboardUrl}projects/${bigProject}/deployments`)
          await page.locator(deploymentLink).first().waitFor()
          await page.mouse.move(viewport.width / 2, 500)
          scrolls('deployments, wheel', await measureFrames(page, () => scrollByWheel(page, turns, 600)))
          note(at('deployments, rows on the page'), '', await page.locator(deploymentLink).count(), 'under 100', under(100))

          await page.goto(`${dashboardUrl}projects/flood/deployments/${id}`)
          await page.getByTestId('log-foot').filter({ hasText: 'Complete' }).waitFor({ timeout: 60_000 })
          await page.getByTestId('log-scroller').hover()
          scrolls('log of 100 000 lines, wheel', await measureFrames(page, () => scrollByWheel(page, turns, -600)))
          scrolls('log of 100 000 lines, jumps', await measureFrames(page, () => jumpScroll(page, '[data-testid=log-scroller]', turns / 2)))
          await page.getByRole('searchbox', { name: 'Search log' }).focus()
          answers(
            'search in a log of 100 000 lines',
            await measureInteraction(
              page,
              () => typeText(page, 'module 77777'),
              "document.querySelector('[data-testid=log-foot]')?.textContent.startsWith('Complete1 of')",
            ),
          )

          if (viewport.width > 1_000) {
            await page.goto(dashboardUrl)
            await page.getByTestId('project-row').first().waitFor()
            await waitUntilIdle(page)
            note(at('an idle tab, changes of the page in 5 s'), '', await countMutations(page), 'none', (value) => value === 0)
            note(
              at('what 500 events leave in memory'),
              'MB',
              await measureHeapGrowth(page, () => renameManyTimes(instance, page)),
              'under 3 MB',
              under(3),
            )
          }

          for (const [name, selector] of tabScreens) {
            await page.goto(`${dashboardUrl}projects/flood`)
            await page.locator('main .card').first().waitFor()
            await waitUntilIdle(page)
            const tab = page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name, exact: true })
            await tab.click()
            await page.waitForFunction(selector)
            await page.goBack()
            await page.waitForFunction(mainShows('Last 24 hours'))
            answers(`to ${name} from cache`, await measureInteraction(page, () => tab.click(), selector))
          }
        } finally {
          await close()
        }
      }
    }
  } finally {
    await browser.close()
    await instance.remove()
    repository.remove()
  }
  return [...figures].map(([name, { unit, bar, holds, values }]) => ({
    name,
    who: 'homeport',
    value: median(values),
    unit,
    ratios: {},
    bar,
    ok: holds(median(values)),
    note: values.length > 1 ? values.map((value) => (value >= 100 ? Math.round(value) : value.toPrecision(3))).join(' ') : '',
  }))
}

/** What the page itself is asked: whether a text is on the screen. */
const mainShows = (text: string): string => `document.querySelector('main')?.textContent.includes(${JSON.stringify(text)})`

const deploymentLink = 'main a[href*="/deployments/dpl_"]'

/** Screens that are opened and left again, and what is visible when they are ready. */
const tabScreens: [name: string, isThere: string][] = [
  ['Deployments', `document.querySelector('${deploymentLink}')`],
  ['Logs', "document.querySelector('[data-testid=log-panel]')"],
  ['Metrics', mainShows('30 days')],
  ['Storage', mainShows('No database yet')],
  ['Settings', mainShows('Root directory')],
]

/** A new browser with an empty cache. The page's policy forbids eval, including that of the benchmark's own checks. */
export async function openDashboard(browser: Browser, instance: BenchInstance, viewport: { width: number; height: number }) {
  const context = await browser.newContext({ viewport, colorScheme: 'light', locale: 'en-GB', bypassCSP: true })
  const page = await context.newPage()
  const { body } = await instance.client.api<{ url: string }>('POST', '/instance/sign-in-links')
  // Only for the session. The page that the link opens is left at once, and its cache is cleared.
  await page.goto(body.url)
  await page.waitForURL(/\/app\//, { waitUntil: 'commit' })
  await page.goto('about:blank')
  const cdp = await context.newCDPSession(page)
  await cdp.send('Network.clearBrowserCache')
  await recordPerformance(page)
  return { page, dashboardUrl: instance.instance.dashboard_url, close: () => context.close() }
}

async function measureFirstPaint(page: Page, dashboardUrl: string): Promise<{ painted_ms: number; script_kb: number; shift: number }> {
  await page.goto(dashboardUrl)
  await page.getByTestId('project-row').first().waitFor()
  await waitUntilIdle(page)
  const shift = (await takeLayoutShifts(page)).sum
  return page.evaluate(async (sum) => {
    // Only what the document itself references, because later screens add their own links.
    const text = await (await fetch(location.pathname)).text()
    const wanted = new Set([...text.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path = '']) => new URL(path, location.href).href))
    const scripts = performance.getEntriesByType('resource').filter((entry): entry is PerformanceResourceTiming => wanted.has(entry.name))
    return {
      painted_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity,
      script_kb: scripts.reduce((bytes, { encodedBodySize }) => bytes + encodedBodySize, 0) / 1000,
      shift: sum,
    }
  }, shift)
}

async function countMutations(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let count = 0
        const observer = new MutationObserver((records) => (count += records.length))
        observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
        setTimeout(() => {
          observer.disconnect()
          resolve(count)
        }, 5_000)
      }),
  )
}

async function renameManyTimes(instance: BenchInstance, page: Page): Promise<void> {
  for (let count = 1; count <= 500; count++) await instance.client.api('PATCH', '/v1/projects/flood', { name: `Flood ${count}` })
  await page.locator('main').getByText('Flood 500', { exact: true }).waitFor()
}

async function measureHeapGrowth(page: Page, act: () => Promise<unknown>): Promise<number> {
  const cdp = await page.context().newCDPSession(page)
  const used = async () => {
    for (let time = 0; time < 3; time++) await cdp.send('HeapProfiler.collectGarbage')
    return (await cdp.send('Runtime.getHeapUsage')).usedSize
  }
  const before = await used()
  await act()
  return ((await used()) - before) / 2 ** 20
}

/** Only the last key is timed, because the others are done by then. */
async function typeText(page: Page, words: string): Promise<void> {
  await page.keyboard.insertText(words.slice(0, -1))
  await page.keyboard.press(words.slice(-1))
}

async function jumpScroll(page: Page, selector: string, steps: number): Promise<void> {
  await page.evaluate(
    async ([target, count]) => {
      const scroller = document.querySelector(target)
      for (let step = 0; scroller && step < count; step++) {
        scroller.scrollTop = (scroller.scrollHeight * ((step * 7) % count)) / count
        await new Promise(requestAnimationFrame)
      }
    },
    [selector, steps] as const,
  )
}
