import { expect, type Page } from '@playwright/test'
import type { TraceLogLine, TraceSpan, TraceSpanDetails, TraceSummary } from '../../server/contract/traces.ts'
import type { Screen } from './screen.ts'

const requestId = 'req_01m84kvc1a6jds9qv8r0rb0003'
const kinds: Partial<TraceSummary>[] = [
  { name: 'GET /orders/:id', method: 'GET', route: '/orders/:id', status: 200, duration_ms: 184.2, spans: 9 },
  { name: 'POST /orders', method: 'POST', route: '/orders', status: 500, duration_ms: 1240.5, spans: 23, errors: 2 },
  { name: 'GET /', method: 'GET', route: '/', status: 200, duration_ms: 8.4, spans: 3 },
  { name: 'send invoices', method: null, route: null, status: null, service: 'invoice-worker', duration_ms: 6120, spans: 412, branch: null },
  {
    name: 'GET /a/long/route/:that/:no/:telephone/:shows/:as/:a/:whole/:and/:that/:is/:cut',
    method: 'GET',
    route: '/a/long/route/:that/:no/:telephone/:shows/:as/:a/:whole/:and/:that/:is/:cut',
    status: 404,
    branch: 'fix/checkout',
  },
]

const createTrace = (index: number): TraceSummary => ({
  trace_id: (0x1a2140b1f0c67000 + index).toString(16).padStart(32, '0'),
  start_time: new Date(Date.now() - 4_000 - index * 9_100).toISOString(),
  duration_ms: 42.1,
  name: 'GET /',
  service: 'harbour-shop',
  method: 'GET',
  route: '/',
  status: 200,
  spans: 5,
  errors: 0,
  branch: null,
  ...kinds[index % kinds.length],
})

const createSpan = (number: number, parent: number | null, own: Partial<TraceSpan>): TraceSpan => ({
  span_id: number.toString(16).padStart(16, '0'),
  parent_id: parent === null ? null : parent.toString(16).padStart(16, '0'),
  name: 'span',
  kind: 'internal',
  service: 'harbour-shop',
  start_ms: 0,
  duration_ms: 1,
  is_error: false,
  summary: null,
  request_id: null,
  phases: [],
  ...own,
})

const edge = createSpan(1, null, {
  name: 'GET /orders/4711',
  kind: 'edge',
  service: 'edge',
  duration_ms: 184.2,
  request_id: requestId,
  phases: [
    { name: 'wake', duration_ms: 41.3 },
    { name: 'queue', duration_ms: 1.2 },
    { name: 'app', duration_ms: 138.4 },
    { name: 'transfer', duration_ms: 3.3 },
  ],
})
const spans: TraceSpan[] = [
  edge,
  createSpan(2, 1, { name: 'GET /orders/:id', kind: 'server', start_ms: 43.1, duration_ms: 137.9, summary: 'GET /orders/:id 200' }),
  createSpan(3, 2, { name: 'middleware - session', start_ms: 44, duration_ms: 12.4 }),
  createSpan(4, 3, {
    name: 'pg.query:SELECT shop',
    kind: 'client',
    start_ms: 45.2,
    duration_ms: 10.6,
    summary: 'SELECT * FROM sessions WHERE id = $1',
  }),
  createSpan(5, 2, { name: 'request handler - /orders/:id', start_ms: 57, duration_ms: 123 }),
  createSpan(6, 5, {
    name: 'pg.query:SELECT shop',
    kind: 'client',
    start_ms: 58.3,
    duration_ms: 71.2,
    summary: 'SELECT o.*, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = $1',
  }),
  createSpan(7, 5, { name: 'POST', kind: 'client', start_ms: 131, duration_ms: 44.8, is_error: true, summary: 'POST http://127.0.0.1:9/prices' }),
  createSpan(8, 5, {
    name: 'pg.query:INSERT shop',
    kind: 'client',
    start_ms: 176.4,
    duration_ms: 2.9,
    summary: 'INSERT INTO views (order_id) VALUES ($1)',
  }),
]
const logs: TraceLogLine[] = [
  {
    time: new Date().toISOString(),
    start_ms: 58,
    line: '{"level":"info","msg":"loading order","trace_id":"000000000000000001a2140b1f0c6700"}',
    stream: 'stdout',
    service: null,
    span_id: spans[4]?.span_id ?? null,
  },
  {
    time: new Date().toISOString(),
    start_ms: 176,
    line: 'prices are not available, using those of yesterday',
    stream: 'stderr',
    service: null,
    span_id: spans[6]?.span_id ?? null,
  },
]
const details: Partial<TraceSpanDetails> = {
  status_message: 'connect ECONNREFUSED 127.0.0.1:9',
  scope: '@opentelemetry/instrumentation-pg',
  attributes: {
    'db.system.name': 'postgresql',
    'db.namespace': 'shop',
    'db.query.text': 'SELECT o.*, c.name\nFROM orders o\nJOIN customers c ON c.id = o.customer_id\nWHERE o.id = $1',
    'server.address': '127.0.0.1',
    'server.port': 5432,
  },
  events: [
    {
      name: 'exception',
      start_ms: 44.1,
      attributes: {
        'exception.type': 'Error',
        'exception.message': 'connect ECONNREFUSED 127.0.0.1:9',
        'exception.stacktrace': 'Error: connect ECONNREFUSED\n    at TCPConnectWrap.afterConnect',
      },
    },
  ],
}

const many = (count: number): TraceSpan[] => [
  { ...edge, duration_ms: count },
  ...Array.from({ length: count - 1 }, (_, i) =>
    createSpan(i + 2, i % 100 === 0 ? 1 : Math.floor(i / 100) * 100 + 2, {
      name: i % 100 === 0 ? `handler ${i / 100}` : `pg.query:SELECT ${i}`,
      kind: i % 100 === 0 ? 'server' : 'client',
      start_ms: i,
      duration_ms: i % 100 === 0 ? 99 : 1 + (i % 7),
      is_error: i % 61 === 0,
      summary: i % 100 === 0 ? null : `SELECT * FROM items WHERE id = ${i}`,
    }),
  ),
]

const withTraces =
  (count: number, more: object = {}) =>
  async (page: Page): Promise<void> => {
    const traces = Array.from({ length: count }, (_, index) => createTrace(index))
    await page.route('**/instance/projects/*/traces?*', (route) =>
      route.fulfill({ json: { traces, next_cursor: null, is_enabled: true, dropped_spans: 0, ...more } }),
    )
  }

/** A trace, also for the test of its speed. */
export const withTrace =
  (own: { spans?: TraceSpan[]; logs?: TraceLogLine[]; trace?: Partial<TraceSummary> } = {}) =>
  async (page: Page): Promise<void> => {
    const shown = own.spans ?? spans
    await page.route('**/instance/projects/*/traces/*', (route) =>
      route.fulfill({ json: { trace: { ...createTrace(0), ...own.trace }, spans: shown, logs: own.logs ?? logs, is_truncated: false } }),
    )
    await page.route('**/instance/projects/*/traces/*/spans/*', (route) => {
      const span = shown.find(({ span_id }) => route.request().url().endsWith(span_id))
      return route.fulfill({ json: { span: { ...span, ...details } } })
    })
  }
export const withLargeTrace = withTrace({ spans: many(10_000), logs: [], trace: { duration_ms: 10_000, spans: 10_000, name: 'GET /report' } })

const list = 'projects/harbour-shop/logs/traces'
const path = `${list}/${createTrace(0).trace_id}`
const waitForRows = (page: Page) => expect(page.getByRole('list', { name: 'Spans' })).toBeVisible()

export const traceScreens: Screen[] = [
  {
    name: 'traces',
    path: list,
    before: withTraces(40, { dropped_spans: 1284 }),
    act: (page) => expect(page.getByRole('list', { name: 'Traces' })).toBeVisible(),
  },
  { name: 'traces-empty', path: list, before: withTraces(0), act: (page) => expect(page.getByText('No traces yet')).toBeVisible() },
  {
    name: 'traces-filtered',
    path: `${list}?status=5xx&route=/orders&errors=true`,
    before: withTraces(0, { is_enabled: false }),
    act: (page) => expect(page.getByText('No traces match')).toBeVisible(),
  },
  { name: 'trace', path, before: withTrace(), act: waitForRows },
  { name: 'trace-large', path, before: withLargeTrace, act: waitForRows },
  {
    name: 'trace-edge-only',
    path,
    before: withTrace({ spans: [edge], logs: [], trace: { spans: 0 } }),
    act: (page) => expect(page.getByText('sent no spans')).toBeVisible(),
  },
  {
    name: 'trace-span',
    path: `${path}?span=${spans[6]?.span_id}`,
    before: withTrace(),
    act: (page) => expect(page.getByRole('dialog').getByText('exception.type')).toBeVisible(),
  },
]
