import type { Page } from '@playwright/test'
import { expect, test } from './fixtures.ts'
import { withLargeTrace } from './trace-screens.ts'

/** Sends a span for each request, with the parent that the edge gave it, as an SDK does. */
const server = `
const { randomBytes } = require('node:crypto')
const [header, token] = (process.env.OTEL_EXPORTER_OTLP_HEADERS ?? '').split(/=(.*)/s)
const span = (traceId, parentSpanId, spanId, name, kind, more = {}) => {
  const now = BigInt(Date.now()) * 1000000n
  return { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano: String(now), endTimeUnixNano: String(now + 4000000n), ...more }
}
require('node:http').createServer(async (request, response) => {
  const [, traceId, parentId] = (request.headers.traceparent ?? '').split('-')
  if (traceId && request.url.startsWith('/orders')) {
    const id = randomBytes(8).toString('hex')
    const text = (key, stringValue) => ({ key, value: { stringValue } })
    const spans = [
      span(traceId, parentId, id, 'GET /orders/:id', 2, { attributes: [text('http.request.method', 'GET'), text('http.route', '/orders/:id')] }),
      span(traceId, id, randomBytes(8).toString('hex'), 'SELECT shop', 3, {
        attributes: [text('db.query.text', 'SELECT * FROM orders WHERE id = $1')],
        status: { code: 2, message: 'relation "orders" does not exist' },
      }),
    ]
    const body = { resourceSpans: [{ resource: { attributes: [text('service.name', process.env.OTEL_SERVICE_NAME)] }, scopeSpans: [{ scope: { name: 'hand' }, spans }] }] }
    const headers = { 'content-type': 'application/json', [header]: token }
    await fetch(process.env.OTEL_EXPORTER_OTLP_ENDPOINT + '/v1/traces', { method: 'POST', headers, body: JSON.stringify(body) })
    console.log('order loaded, trace_id=' + traceId)
  }
  response.end('ok')
}).listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => process.exit(0))
`
const files = { 'package.json': JSON.stringify({ name: 'orders', private: true, scripts: { start: 'node server.js' } }), 'server.js': server }

test('a request leads to its trace: edge, handler, failed SQL with its statement, log line', async ({ dashboard, platform, createRepository }) => {
  await platform.createProject({ slug: 'orders', name: 'Orders', repo_url: createRepository(files).url })
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
  await platform.createProject({ slug: 'report', name: 'Report', repo_url: createRepository(files).url })
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
