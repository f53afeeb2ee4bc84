import { delimiter } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import type { DevSession } from '../../server/contract/dev.ts'
import { startHomeport } from '../support/instance-process.ts'
import { chromiumPath } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { createEditor, type DevApp, devApps, prepareDevApp } from './dev-apps.ts'
import { type BenchInstance, startInstance } from './instance.ts'
import { median, type BenchRow } from './row.ts'

/** The maximum ratio of the time until an edit shows, compared with the server's own address. */
const mostAllowed = 1.15
const edits = 5
const pause_ms = 300

/** How a page reaches the development server. */
const ways = ['bare', 'http', 'https'] as const
type Way = (typeof ways)[number]

/**
 * From saving a file to the page that shows it, in Chromium: at the address of a project over HTTP and over HTTPS with HTTP/2, compared
 * with the address of the same development server. Only one page is open at a time, because pages would share the work of an edit.
 */
export async function benchDev(options: { rounds?: number; cases?: string[] | undefined } = {}): Promise<BenchRow[]> {
  const instance = await startInstance({ runtime: 'process' })
  const browser = await chromium.launch({
    ...(chromiumPath ? { executablePath: chromiumPath } : {}),
    // Trusts the instance's authority for the whole browser, because Vite waits for its server in a worker, and a context would trust it only for pages.
    args: ['--ignore-certificate-errors', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })
  try {
    const rows: BenchRow[] = []
    for (const app of devApps.filter(({ name }) => options.cases?.includes(name) ?? true)) {
      const name = `edit to repaint, ${app.name}`
      try {
        const context = await browser.newContext()
        try {
          rows.push(...createRows(name, await measureApp(instance, await context.newPage(), app, options.rounds ?? 3)))
        } finally {
          await context.close()
        }
      } catch (error) {
        rows.push({ name, who: 'homeport', value: null, unit: 'ms', ratios: {}, note: String(error).split('\n')[0] ?? '' })
        console.error(error)
      }
    }
    return rows
  } finally {
    await browser.close()
    await instance.remove()
  }
}

function createRows(name: string, { times, protocols }: Measured): BenchRow[] {
  const bare = median(times.bare)
  return (['http', 'https'] as const).flatMap((way): BenchRow[] => {
    const ratio = median(times[way]) / bare
    const label = `${name}, ${way} (${protocols[way].join(', ')})`
    return [
      {
        name: label,
        who: 'homeport',
        value: median(times[way]),
        unit: 'ms',
        ratios: { bare: ratio },
        bar: `at most ${mostAllowed} x bare`,
        ok: ratio <= mostAllowed,
      },
      { name: label, who: 'bare', value: bare, unit: 'ms', ratios: {} },
    ]
  })
}

interface Measured {
  times: Record<Way, number[]>
  /** Of the page, and of its sockets. */
  protocols: Record<Way, string[]>
}

async function measureApp(instance: BenchInstance, page: Page, app: DevApp, rounds: number): Promise<Measured> {
  const folder = prepareDevApp(app)
  const editor = createEditor(app, folder)
  // The system's Python, which has the packages of Debian.
  if (app.needs) process.env.PATH = ['/usr/bin', process.env.PATH].join(delimiter)
  const command = await startHomeport(['dev', '--data', instance.data, ...(app.command ? ['--', ...app.command] : [])], folder)
  try {
    const listSessions = async () =>
      (await instance.client.api<{ sessions?: DevSession[] }>('GET', `/instance/projects/${app.name}/dev`)).body.sessions ?? []
    const session = await until(async () => (await listSessions()).find(({ status }) => status === 'running'), { what: app.name }).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${command.output()}`)
      },
    )
    const urls: Record<Way, string> = { bare: `http://localhost:${session.port}/`, http: `${session.url}/`, https: `${session.https_url}/` }
    const measured: Measured = { times: { bare: [], http: [], https: [] }, protocols: { bare: [], http: [], https: [] } }
    let count = 0
    const watch = watchPage(page)
    for (let round = 0; round < rounds; round++) {
      for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
        watch.reset()
        await open(page, urls[way])
        // The first edit shows only once the page listens, so another follows until one does: a file that is saved unchanged sends no update.
        await until(
          async () => {
            const waiting = `Begun ${++count}`
            editor.edit(waiting)
            await isShown(page, waiting, app.is_reloaded ? urls[way] : null, 3_000)
            return true
          },
          { what: `${app.name}, ${way}: the first edit` },
        )
        // A development server may combine, or miss, edits in quick succession.
        await page.waitForTimeout(pause_ms)
        for (let edit = 0; edit < edits; edit++) {
          const text = `Edited ${++count} times`
          const shown = app.is_reloaded ? null : isShown(page, text, null, 20_000)
          const begun = performance.now()
          editor.edit(text)
          await (shown ?? isShown(page, text, urls[way], 20_000)).catch(async (error: unknown) => {
            const seen = await page.evaluate(() => document.body.innerText).catch(String)
            const what = `${app.name}, ${way}: the page did not show “${text}”, but “${seen.slice(0, 200)}”. What it did:`
            throw new Error([what, ...watch.lines()].join('\n  '), { cause: error })
          })
          measured.times[way].push(performance.now() - begun)
          await page.waitForTimeout(pause_ms)
        }
        const protocol = await page.evaluate(() => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).nextHopProtocol)
        measured.protocols[way] = [protocol, ...watch.socketProtocols()]
        await page.goto('about:blank')
      }
    }
    for (const way of ways)
      console.error(`  ${app.name}, ${way} (${measured.protocols[way].join(', ')}): ${measured.times[way].map((ms) => ms.toFixed(0)).join(' ')} ms`)
    return measured
  } finally {
    command.kill('SIGINT')
    await command.ended
    editor.restore()
    await instance.client.api('DELETE', `/v1/projects/${app.name}`)
  }
}

/** A server that has just started may respond late or with an error at first. */
const open = (page: Page, url: string): Promise<void> =>
  until(async () => ((await page.goto(url, { waitUntil: 'load' }))?.ok() ? true : undefined), { what: url }).then(() => {})

/** Resolves once the page shows the text. With `url` the page is loaded until it does. */
async function isShown(page: Page, text: string, url: string | null, timeout: number): Promise<void> {
  if (url === null) {
    await page.waitForFunction((wanted) => document.body?.innerText.includes(wanted), text, { polling: 'raf', timeout })
    return
  }
  const giveUpAt = performance.now() + timeout
  for (;;) {
    const response = await page.goto(url, { waitUntil: 'commit' }).catch(() => null)
    if (response?.ok() && (await response.text().catch(() => '')).includes(text)) return
    if (performance.now() > giveUpAt) throw new Error(`${url} does not show ${text}`)
    await page.waitForTimeout(20)
  }
}

/** What a page did since `reset`: its sockets with their messages, failed requests and errors, for the report on an edit that does not show. */
function watchPage(page: Page) {
  const protocols = new Set<string>()
  const seen: string[] = []
  const note = (line: string) => void seen.push(`${new Date().toISOString().slice(11)} ${line.slice(0, 300)}`)
  page.on('websocket', (socket) => {
    protocols.add(new URL(socket.url()).protocol)
    note(`socket ${socket.url()}`)
    socket.on('framereceived', ({ payload }) => note(`received ${String(payload)}`))
    socket.on('close', () => note('socket closed'))
  })
  page.on('requestfailed', (request) => note(`failed ${request.url()}: ${request.failure()?.errorText}`))
  page.on('requestfinished', (request) => note(`loaded ${request.url()}`))
  page.on('console', (message) => note(`console: ${message.text()}`))
  page.on('pageerror', (error) => note(`error: ${error.message}`))
  return {
    reset() {
      protocols.clear()
      seen.length = 0
    },
    socketProtocols: () => [...protocols],
    lines: () => seen.slice(-40),
  }
}
