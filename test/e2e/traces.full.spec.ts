import type { Page } from '@playwright/test'
import { expect, test } from './fixtures.ts'
import { handTracedApp } from '../tracing/traced-app.ts'
import { withLargeTrace } from './trace-screens.ts'

test('a request leads to its trace: edge, handler, failed SQL with its statement, log line', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'orders', name: 'Orders', repo_url: createRepository(handTracedApp).url })
  await platform.waitForEnd('orders', (await platform.deploy('orders')).id)
  const id = String((await platform.fetchEdge('orders.localhost', '/orders/7')).headers['x-request-id'])
  await dashboard.goto(`${platform.handle.dashboard_url}projects/orders/logs/requests?request=${id}`)
  await dashboard.getByRole('dialog').getByRole('link', { name: 'Show trace' }).click()

  const rows = dashboard.getByRole('list', { name: 'Spans' })
  await expect(rows.getByRole('button', { name: /^edge GET \/orders\/7/ })).toBeVisible()
  await expect(async () => {
    await dashboard.getByRole('button', { name: 'Refresh' }).click()
    await expect(rows.getByText(/order loaded, trace_id=/)).toBeVisible({ timeout: 1_000 })
  }).toPass()
  await expect(rows.getByRole('listitem')).toHaveCount(4)
  await rows.getByRole('button', { name: /^SELECT shop/ }).click()
  const dialog = dashboard.getByRole('dialog', { name: 'SELECT shop' })
  await expect(dialog.getByRole('region', { name: 'SQL' })).toContainText('SELECT * FROM orders WHERE id = $1')
  await expect(dialog).toContainText('relation "orders" does not exist')
  await dashboard.keyboard.press('Escape')
  await rows.getByRole('button', { name: 'Collapse GET /orders/:id' }).press('Enter')
  await expect(rows.getByRole('listitem')).toHaveCount(3)

  await dashboard.getByRole('link', { name: 'Traces' }).click()
  await dashboard.getByRole('combobox', { name: 'Errors' }).selectOption('With errors')
  await expect(dashboard.getByRole('list', { name: 'Traces' }).getByRole('link', { name: /\/orders\/:id.*1 failed/ })).toBeVisible()
  await dashboard.getByRole('searchbox', { name: 'Route' }).fill('/nowhere')
  await dashboard.getByRole('searchbox', { name: 'Route' }).press('Enter')
  await expect(dashboard.getByText('No traces match')).toBeVisible()
})

/** The most rows that are in the document at once while the page scrolls from top to bottom, and the time between its frames. */
const scrollThrough = (page: Page) =>
  page.evaluate(async () => {
    let [most, before] = [0, performance.now()]
    const frames: number[] = []
    for (let step = 0; step <= 120; step++) {
      window.scrollTo(0, (document.documentElement.scrollHeight * step) / 120)
      await new Promise(requestAnimationFrame)
      frames.push(performance.now() - before)
      before = performance.now()
      most = Math.max(most, document.querySelectorAll('[data-rows] > li').length)
    }
    frames.sort((a, b) => a - b)
    return { most, median_ms: frames[60] ?? 0, p95_ms: frames[114] ?? 0 }
  })

test('a trace of 10,000 spans has few rows in the document, and collapses', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'report', name: 'Report', repo_url: createRepository(handTracedApp).url })
  await withLargeTrace(dashboard)
  await dashboard.goto(`${platform.handle.dashboard_url}projects/report/logs/traces/000000000000000001a2140b1f0c6700`)
  const rows = dashboard.getByRole('list', { name: 'Spans' })
  await expect(rows.getByRole('button', { name: /^edge/ })).toBeVisible()
  const { most, median_ms, p95_ms } = await scrollThrough(dashboard)
  console.log(`waterfall of 10,000 spans: ${most} rows, frames of ${median_ms.toFixed(1)} ms, 95 % within ${p95_ms.toFixed(1)} ms`)
  expect(most).toBeLessThan(120)
  await expect(rows.getByRole('button', { name: /^pg\.query:SELECT 9998/ })).toBeVisible()
  await dashboard.evaluate(() => window.scrollTo(0, 0))
  await rows.getByRole('button', { name: 'Collapse handler 0' }).click()
  await expect(rows.getByRole('button', { name: /^handler 0 \+99/ })).toBeVisible()
  await expect(rows.getByRole('button', { name: /^handler 1\b/ })).toBeVisible()
})
