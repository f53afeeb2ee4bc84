import { expect, type Page } from '@playwright/test'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import type { Screen } from './screen.ts'
import { traceScreens } from './trace-screens.ts'

/** Requests of the last minutes, newest first. The times are those of the page, so that screenshots of two runs differ in them alone. */
const kinds: Partial<LoggedRequest>[] = [
  { path: '/', cache: 'hit', cache_status: 'hit', duration_ms: 0.42, queue_ms: null, app_ms: null, transfer_ms: 0.42 },
  { path: '/api/orders', query: 'page=2&token=***', duration_ms: 184.2, app_ms: 180.1 },
  { path: '/api/orders', method: 'POST', status: 201, cache: 'bypass', cache_status: 'fwd=method; fwd-status=201', duration_ms: 96.3, app_ms: 93.8 },
  { path: '/api/orders/4711', status: 500, duration_ms: 1240.5, app_ms: 1236.2 },
  { path: '/favicon.ico', status: 404, duration_ms: 3.1, app_ms: 2.4 },
  { path: '/old-prices', status: 301, duration_ms: 2.2, app_ms: 1.9 },
  {
    path: '/checkout/with/a/long/path/that/no/telephone/shows/as/a/whole/and/that/is/cut/somewhere/in/the/middle',
    status: 502,
    failure: 'refused',
    cache: null,
    cache_status: null,
    duration_ms: 2004.7,
    queue_ms: null,
    app_ms: null,
    transfer_ms: 0.3,
  },
  { path: '/', wake_ms: 361.4, duration_ms: 398.9, app_ms: 35.2, skipped_before: 2318 },
]

export function createLoggedRequest(index: number): LoggedRequest {
  return {
    id: `req_01m84kvc1a6jds9qv8r0rb${String(index).padStart(4, '0')}`,
    time: new Date(Date.now() - 3_000 - index * 7_300).toISOString(),
    method: 'GET',
    host: 'harbour-shop.localhost',
    path: '/',
    query: null,
    scheme: 'http',
    protocol: 'HTTP/1.1',
    status: 200,
    duration_ms: 12.5,
    wake_ms: 0,
    queue_ms: 0.3,
    app_ms: 10.1,
    transfer_ms: 2.1,
    bytes: 4213,
    cache: 'miss',
    cache_status: 'fwd=uri-miss; fwd-status=200; detail="no lifetime given"',
    deployment_id: 'dpl_01m84kvc1a6jds9qv8r0rb8g9k',
    replica: null,
    client_ip: '192.168.2.0',
    is_captured: index === 0,
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    trace_id: '01a2140b1f0c67ebb5e1b58dce803056',
    span_id: 'b5e1b58dce803056',
    failure: null,
    skipped_before: 0,
    ...kinds[index % kinds.length],
  }
}

export const withRequests =
  (count: number, more: { is_recording?: boolean } = {}) =>
  async (page: Page): Promise<void> => {
    const requests = Array.from({ length: count }, (_, index) => createLoggedRequest(index))
    await page.route('**/instance/projects/*/requests?*', (route) =>
      route.fulfill({ json: { requests, next_cursor: null, last_event_id: 'czA', is_recording: true, ...more } }),
    )
    await page.route('**/instance/projects/*/request-stream?*', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: 'retry: 60000\n\n' }),
    )
    await page.route('**/instance/requests/*', (route) => {
      const request = requests.find(({ id }) => route.request().url().endsWith(id))
      return route.fulfill({ json: { request, project: 'harbour-shop' } })
    })
  }

const path = 'projects/harbour-shop/logs/requests'

export const requestScreens: Screen[] = [
  ...traceScreens,
  { name: 'logs', path: 'projects/harbour-shop/logs' },
  { name: 'logs-none', path: 'projects/chart-room/logs' },
  {
    name: 'logs-download',
    path: 'projects/harbour-shop/logs',
    act: (page) => page.getByRole('button', { name: 'Download full log' }).click(),
  },
  { name: 'requests', path, before: withRequests(60), act: (page) => expect(page.getByRole('list', { name: 'Requests' })).toBeVisible() },
  { name: 'requests-empty', path, before: withRequests(0), act: (page) => expect(page.getByText('No requests yet')).toBeVisible() },
  {
    name: 'requests-filtered',
    path: `${path}?status=5xx&path=/api&deployment=dpl_01m84kvc1a6jds9qv8r0rb8g9k&since=2026-01-01T12:00:00.000Z&until=2026-01-01T12:15:00.000Z`,
    before: withRequests(0, { is_recording: false }),
    act: (page) => expect(page.getByText('No requests match')).toBeVisible(),
  },
  {
    name: 'requests-details',
    path: `${path}?request=${createLoggedRequest(3).id}`,
    before: withRequests(12),
    act: (page) => expect(page.getByRole('dialog').getByText('Trace ID')).toBeVisible(),
  },
  {
    name: 'requests-details-failed',
    path: `${path}?request=${createLoggedRequest(6).id}`,
    before: withRequests(12),
    act: (page) => expect(page.getByRole('dialog').getByText('did not accept the connection')).toBeVisible(),
  },
]
