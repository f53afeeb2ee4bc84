import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { parseTraceFilters } from '../../../renderer/features/traces/filters.ts'
import TracesPage from '../../../renderer/features/traces/list-page.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { traceSummary, type TraceSummary } from '../../../server/contract/traces.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createTrace = (own: Partial<TraceSummary> = {}) =>
  createExample(traceSummary, {
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    duration_ms: 12,
    name: 'GET /cart',
    service: 'web',
    method: null,
    route: null,
    status: null,
    spans: 1,
    errors: 0,
    branch: null,
    ...own,
  })
interface PageState {
  search?: string
  filters?: Record<string, string>
  traces?: TraceSummary[] | null
  next_cursor?: string | null
  is_enabled?: boolean
  dropped_spans?: number
  answers?: PartOptions['answers']
}
function openPage({
  search = '',
  filters = {},
  traces = [],
  next_cursor = null,
  is_enabled = true,
  dropped_spans = 0,
  answers = {},
}: PageState = {}) {
  history.replaceState(null, '', `/projects/my-shop/logs/traces${search}`)
  const page = { traces, next_cursor, is_enabled, dropped_spans }
  return renderPart(<TracesPage slug="my-shop" />, {
    data: [[queryKeys.traces('my-shop', filters), traces === null ? undefined : { pages: [page], pageParams: [null] }]],
    answers,
  })
}
const filtered = { search: '?status=5xx', filters: { status: '5xx' } }

test.each<[string, PageState, string, boolean]>([
  [
    'none yet',
    {},
    '[Traces] No traces yet An app with an OpenTelemetry SDK sends its traces here without configuration: requests, SQL queries and calls to other services. How apps send traces',
    false,
  ],
  ['none that match', filtered, '[Traces] No traces match The last 100,000 spans of 3 days are kept. Clear filters', true],
  ['one', { traces: [createTrace()] }, '12 ms 1 traceHow apps send traces', true],
  [
    'several, and more to load',
    { traces: [createTrace(), createTrace({ trace_id: 'b' })], next_cursor: 'next', dropped_spans: 2000 },
    '12 ms 2 traces; scroll to load more2,000 spans were not stored so farHow apps send traces',
    true,
  ],
])('traces: %s', (_, state, end, hasFilters) => {
  const { text } = openPage(state)
  expect(text().slice(-end.length)).toBe(end)
  expect(screen.queryByLabelText('Route') !== null).toBe(hasFilters)
  expect(text()).not.toContain('Loading')
})

test('the list is loading', () => expect(openPage({ traces: null }).text()).toBe('[Traces] Loading'))

test.each([
  ['route_not_found', 'No traces This instance runs an older Homeport, which has no traces.'],
  ['project_not_found', 'It was deleted. project_not_found Try again'],
] as const)('why the traces cannot be loaded: %s', async (code, expected) => {
  const { text } = openPage({ traces: null, answers: { listTraces: problemResponse(code, 'It was deleted.') } })
  await expect.poll(text).toContain(expected.split(' ')[0])
  expect(text()).toContain(code === 'route_not_found' ? expected : 'It was deleted.')
  expect(text()).not.toContain('Loading')
})

test.each([
  [undefined, false],
  [null, true],
])('a hosted account has no traces: its session is %s', (session, isHosted) => {
  useConnection.setState({ current: { ...localConnection, id: 'hosted' } })
  const { text } = renderPart(<TracesPage slug="my-shop" />, { data: [[queryKeys.session, session]] })
  expect(text()).toBe(isHosted ? 'No traces Hosted accounts have no traces. Homeport on your own machine has them.' : '[Traces] Loading')
})

test.each([true, false])('whether traces are off: %s', (is_enabled) => {
  openPage({ is_enabled })
  expect(screen.queryByText(/Traces are off for this project/) === null).toBe(is_enabled)
})

test.each([
  ['Status', '5xx', '?status=5xx'],
  ['Duration', '500', '?min_duration_ms=500'],
  ['Errors', 'true', '?errors=true'],
])('traces are filtered by %s', async (label, value, search) => {
  const { user } = openPage({ traces: [createTrace()] })
  await user.selectOptions(screen.getByLabelText(label), value)
  expect(location.search).toBe(search)
})

test('traces are filtered by a route', async () => {
  const { user } = openPage(filtered)
  await user.type(screen.getByLabelText('Route'), '/cart{Enter}')
  expect(location.search).toBe('?status=5xx&route=%2Fcart')
})

test('all filters are cleared', async () => {
  const { user } = openPage(filtered)
  await user.click(screen.getByRole('button', { name: 'Clear filters' }))
  expect(location.search).toBe('')
})

test('filters of an address that are invalid or unknown are ignored', () => {
  expect(parseTraceFilters(new URLSearchParams('status=9xx&errors=false&min_duration_ms=5&branch=docs&other=1'))).toEqual({
    min_duration_ms: '5',
    branch: 'docs',
  })
})

test.each<[string, Partial<TraceSummary>, string]>([
  ['of a job', {}, 'GET /cartweb1 span12 ms'],
  [
    'of a request to a preview, with errors',
    { status: 500, method: 'GET', route: '/cart/:id', spans: 2000, errors: 1, branch: 'docs' },
    '500GET/cart/:id docsweb2,000 spans, 1 failed12 ms',
  ],
])('a row %s', (_, own, expected) => {
  openPage({ traces: [createTrace(own)] })
  const row = screen.getByRole('listitem')
  expect(row.textContent?.replace(/^\d\d:\d\d:\d\d\.\d{3}/, '')).toBe(expected)
  expect(row.querySelector('a')?.getAttribute('href')).toBe('/projects/my-shop/logs/traces/0af7651916cd43dd8448eb211c80319c')
})
