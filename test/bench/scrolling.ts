import { loadavg } from 'node:os'
import type { Page } from '@playwright/test'
import pg from 'pg'
import type { Database } from '../../server/contract/databases.ts'
import { withLargeTrace } from '../e2e/trace-screens.ts'
import { measureFrames, scrollByWheel, waitUntilIdle } from '../support/page-performance.ts'
import { launchBrowser, openDashboard, sizes } from './dashboard.ts'
import { startInstance, type BenchInstance } from './instance.ts'
import { fillRequestLog } from './request-log.ts'
import { median, type BenchRow } from './row.ts'

const slug = 'scrolled'

/** Each is scrolled by the wheel, and what is under the pointer. */
const lists: { name: string; path: string; row: string; scroller: string; before?: (page: Page) => Promise<void> }[] = [
  { name: 'request log', path: 'logs/requests', row: 'ul[data-rows] > li', scroller: 'ul[data-rows]' },
  { name: 'rows of a table', path: 'database/tables', row: '[role=row]', scroller: '[role=table]' },
  {
    name: 'waterfall of 10 000 spans',
    path: 'logs/traces/000000000000000001a2140b1f0c6700',
    row: 'ul[data-rows] > li',
    scroller: 'ul[data-rows]',
    before: withLargeTrace,
  },
]

/** Frames of the long lists of a project while they are scrolled in a real browser: the request log, the rows of a table, a large trace. */
export async function benchScrolling({ rounds = 3, turns = 240 }: { rounds?: number; turns?: number } = {}): Promise<BenchRow[]> {
  let instance = await startInstance({ runtime: 'process' })
  const { data } = instance
  const browser = await launchBrowser()
  const readings = new Map<string, { medians: number[]; p95s: number[]; dropped: number[]; tasks: number[]; work: number[]; loads: number[] }>()
  try {
    const { id } = await instance.client.createProject({ slug })
    await instance.stop()
    await fillRequestLog(data, id, 20_000)
    instance = await startInstance({ runtime: 'process', data })
    await createTable(instance)
    for (let round = 0; round < rounds; round++)
      for (const viewport of sizes)
        for (const { name, path, row, scroller, before } of lists) {
          const { page, dashboardUrl, close } = await openDashboard(browser, instance, viewport)
          try {
            await before?.(page)
            await page.goto(`${dashboardUrl}projects/${slug}/${path}`)
            await page.locator(row).nth(5).waitFor()
            await waitUntilIdle(page)
            const box = await page.locator(scroller).first().boundingBox()
            await page.mouse.move((box?.x ?? 0) + 150, Math.min(viewport.height - 50, (box?.y ?? 0) + 200))
            const readWork = await recordWork(page)
            const frames = await measureFrames(page, () => scrollByWheel(page, turns, 120))
            const work_ms = (await readWork()) / turns
            const key = `scrolling ${viewport.width}: ${name}`
            const reading = readings.get(key) ?? { medians: [], p95s: [], dropped: [], tasks: [], work: [], loads: [] }
            readings.set(key, reading)
            reading.medians.push(frames.median_ms)
            reading.p95s.push(frames.p95_ms)
            reading.dropped.push((100 * frames.dropped) / frames.frames)
            reading.tasks.push(frames.longest_task_ms)
            reading.work.push(work_ms)
            reading.loads.push(loadavg()[0] ?? NaN)
          } finally {
            await close()
          }
        }
  } finally {
    await browser.close()
    await instance.client.api('DELETE', `/v1/projects/${slug}`)
    await instance.remove()
  }
  return [...readings].map(([name, { medians, p95s, dropped, tasks, work, loads }]) => ({
    name,
    who: 'homeport',
    value: median(medians),
    unit: 'ms a frame',
    ratios: {},
    bar: 'median under 17.5 ms, under 5 % over two frames',
    ok: median(medians) < 17.5 && median(dropped) < 5,
    note:
      `95 % within ${median(p95s).toFixed(1)} ms, ${median(dropped).toFixed(1)} % over two frames, ` +
      `${median(work).toFixed(1)} ms of work per turn, longest task ${Math.max(...tasks).toFixed(0)} ms, load ${median(loads).toFixed(1)}`,
  }))
}

/** Returns a function that returns the milliseconds that the main thread has worked since. */
async function recordWork(page: Page): Promise<() => Promise<number>> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable')
  const read = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    const parts = metrics.filter(({ name }) => ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'].includes(name))
    return parts.reduce((sum, { value }) => sum + value * 1000, 0)
  }
  const before = await read()
  return async () => (await read()) - before
}

async function createTable(instance: BenchInstance): Promise<void> {
  const { body } = await instance.client.api<{ database: Database }>('POST', `/v1/projects/${slug}/database`)
  const client = new pg.Client({ connectionString: body.database.connection_string })
  await client.connect()
  try {
    await client.query(`CREATE TABLE orders (id bigserial PRIMARY KEY, customer text, status text, total numeric, details jsonb, created_at timestamptz);
      INSERT INTO orders (customer, status, total, details, created_at)
      SELECT 'Customer ' || n, (ARRAY['new', 'paid', 'shipped'])[n % 3 + 1], n * 1.37, jsonb_build_object('sku', 'LAMP-' || n, 'count', n % 9), now() - n * interval '1 minute'
      FROM generate_series(1, 20000) n`)
  } finally {
    await client.end()
  }
}

// `node test/bench/scrolling.ts [ROUNDS] [TURNS]`
if (import.meta.main) {
  const { printRows } = await import('./compare.ts')
  const [rounds = 1, turns = 240] = process.argv.slice(2).map(Number)
  printRows(await benchScrolling({ rounds, turns }))
}
