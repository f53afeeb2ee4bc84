import { expect, type Page } from '@playwright/test'
import type { FoundLogLine, StoredLogLine } from '../../server/contract/log-search.ts'
import type { Screen } from './screen.ts'

const texts: Pick<StoredLogLine, 'line' | 'level' | 'stream'>[] = [
  { line: 'POST /api/orders 201 in 96 ms', level: 'info', stream: 'stdout' },
  {
    line: '{"level":"warn","msg":"stock is low","sku":"LAMP-1","left":2,"order":{"id":4711,"customer":"Ada Lovelace"}}',
    level: 'warn',
    stream: 'stdout',
  },
  { line: 'TypeError: Cannot read properties of undefined (reading \u2018total\u2019)', level: 'error', stream: 'stderr' },
  { line: '    at computeTotal (/app/cart.js:41:12)', level: 'error', stream: 'stderr' },
  { line: '\u001b[32mlistening\u001b[39m on port 3000', level: 'info', stream: 'stdout' },
  { line: `GET /${'a-long-path-that-no-telephone-shows-as-a-whole/'.repeat(6)} 404 in 3 ms`, level: 'info', stream: 'stdout' },
]
const createLine = (index: number): StoredLogLine => ({
  record: index + 1,
  time: new Date(Date.UTC(2026, 10, 26, 8, 0, 0) + index * 1_000).toISOString(),
  deployment_id: 'dpl_01m84kvc1a6jds9qv8r0rb8g9k',
  ...texts[index % texts.length]!,
})
const createFound = (index: number): FoundLogLine => ({
  ...createLine(200 - index),
  project: index % 4 === 3 ? { id: 'prj_2', slug: 'pilot-book', name: 'Pilot book' } : { id: 'prj_1', slug: 'harbour-shop', name: 'Harbour shop' },
  log: index % 5 === 4 ? 'build' : 'runtime',
  target: index % 3 === 2 ? 'preview' : 'production',
  branch: index % 3 === 2 ? 'feature/tide-widget' : null,
  service: index % 4 === 1 ? 'worker' : null,
})

const withFound =
  (count: number, next_cursor: string | null = null) =>
  async (page: Page): Promise<void> => {
    const lines = Array.from({ length: count }, (_, index) => createFound(index))
    await page.route(/\/instance\/logs\?/, (route) => route.fulfill({ json: { lines, next_cursor } }))
  }

const withLines = async (page: Page): Promise<void> => {
  const lines = Array.from({ length: 120 }, (_, index) => createLine(index))
  await page.route(/\/log-lines\?/, (route) => route.fulfill({ json: { lines, has_earlier: true, has_later: false } }))
}

/** Logs by their words and times. */
export const logScreens: Screen[] = [
  {
    name: 'log-search',
    path: 'logs?q=total&level=warn',
    before: withFound(20, 'czE'),
    act: (page) => expect(page.getByRole('button', { name: 'Search older lines' })).toBeVisible(),
  },
  {
    name: 'log-search-none',
    path: 'logs?q=nowhere',
    before: withFound(0),
    act: (page) => expect(page.getByText('No lines match')).toBeVisible(),
  },
  {
    name: 'logs-part',
    path: 'projects/harbour-shop/logs?around=63',
    before: withLines,
    act: (page) => expect(page.getByText('at computeTotal').first()).toBeVisible(),
  },
  {
    name: 'logs-fields',
    path: 'projects/harbour-shop/logs?around=62',
    before: withLines,
    async act(page) {
      await page.getByRole('button', { name: 'Fields of line 62' }).click()
      await expect(page.getByRole('dialog').getByText('order.customer')).toBeVisible()
    },
  },
  {
    name: 'logs-jump',
    path: 'projects/harbour-shop/logs',
    act: (page) => page.getByRole('button', { name: 'Jump to time…' }).click(),
  },
]
