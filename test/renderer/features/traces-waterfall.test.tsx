import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { Route } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { SpanDialog } from '../../../renderer/features/traces/span-dialog.tsx'
import TracePage from '../../../renderer/features/traces/trace-page.tsx'
import { allOperations } from '../../../server/contract/index.ts'
import { project } from '../../../server/contract/projects.ts'
import {
  type TraceSpan,
  type TraceSpanDetails,
  traceSpan,
  traceSummary,
  type TraceSummary,
  type TraceLogLine,
} from '../../../server/contract/traces.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { Waterfall } from '../../../renderer/features/traces/waterfall.tsx'
import { buildTree } from '../../../renderer/features/traces/waterfall-rows.ts'

const createSpan = (span_id: string, own: Partial<TraceSpan> = {}) =>
  createExample(traceSpan, {
    span_id,
    parent_id: null,
    name: span_id,
    kind: 'internal',
    service: 'web',
    start_ms: 0,
    duration_ms: 10,
    is_error: false,
    summary: null,
    request_id: null,
    phases: [],
    ...own,
  })
interface TraceState {
  trace?: Partial<TraceSummary>
  spans?: TraceSpan[]
  is_truncated?: boolean
  search?: string
}
function openTrace({ trace = {}, spans = [createSpan('handler')], is_truncated = false, search = '' }: TraceState = {}) {
  history.replaceState(null, '', `/traces/trace_1${search}`)
  const summary = createExample(traceSummary, { name: 'GET /cart', status: null, spans: 1, errors: 0, branch: null, duration_ms: 12, ...trace })
  const view = { ...createExample(allOperations.getTrace.success.json), trace: summary, spans, logs: [], is_truncated }
  return renderPart(<Route path="/traces/:id">{() => <TracePage slug="my-shop" />}</Route>, {
    data: [
      [queryKeys.project('my-shop'), createExample(project, { name: 'My shop' })],
      [queryKeys.trace('my-shop', 'trace_1'), view],
    ],
  })
}
const createDetails = (own: Partial<TraceSpanDetails> = {}): TraceSpanDetails => ({
  ...createSpan('span_1', { name: 'SELECT', kind: 'client' }),
  status_message: null,
  scope: null,
  attributes: {},
  events: [],
  ...own,
})
const openSpan = (span: TraceSpanDetails | null, answers: PartOptions['answers'] = {}) =>
  renderPart(<SpanDialog slug="my-shop" traceId="trace_1" spanId="span_1" onClose={vi.fn()} />, {
    data: [[queryKeys.traceSpan('my-shop', 'trace_1', 'span_1'), span ?? undefined]],
    answers,
  })

test.each<[string, TraceState, RegExp]>([
  ['of a job', {}, /^GET \/cart Jan \d+, 2026, [\d:]+12 ms1 span/],
  [
    'of a request with errors',
    { trace: { status: 500, spans: 2000, errors: 2, branch: 'docs' } },
    /^500GET \/cart Jan \d+, 2026, [\d:]+12 ms2,000 spans, 2 faileddocs/,
  ],
])('a trace %s', (_, state, expected) => {
  const { text } = openTrace(state)
  expect(text().replace(/[A-Z][a-z]{2} \d+, 20\d\d/, 'Jan 1, 2026')).toMatch(expected)
  expect(text()).not.toContain('Loading')
  expect(document.title).toContain('GET /cart · My shop')
})

test('a span of the trace opens from its row and its address, and closes', async () => {
  const { user } = openTrace()
  await user.click(screen.getByRole('button', { name: /^handler/ }))
  expect(location.search).toBe('?span=handler')
  expect(screen.getByRole('dialog', { name: 'Span' })).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(location.search).toBe('')
  expect(screen.queryByRole('dialog')).toBeNull()
})

test.each([
  ['req_1', '/projects/my-shop/logs/requests?request=req_1'],
  [null, null],
])('a trace whose request is %s has the link %s', (request_id, address) => {
  openTrace({ spans: [createSpan('handler'), createSpan('edge', { kind: 'edge', request_id })] })
  const links = screen
    .queryAllByRole('link')
    .map((link) => link.getAttribute('href'))
    .filter((href) => href?.includes('request='))
  expect(links).toEqual(address === null ? [] : [address])
})

test.each([true, false])('whether a trace has more spans than are shown: %s', (is_truncated) => {
  const { text } = openTrace({ is_truncated })
  expect(/only the first|not shown|more spans/i.test(text())).toBe(is_truncated)
})

test('a trace is loading, and why it cannot be loaded', async () => {
  history.replaceState(null, '', '/traces/trace_1')
  const { text } = renderPart(<Route path="/traces/:id">{() => <TracePage slug="my-shop" />}</Route>, {
    answers: { getTrace: problemResponse('trace_not_found', 'It is no longer kept.') },
  })
  expect(text()).toBe('Loading')
  await expect.poll(text).toContain('It is no longer kept.')
  expect(text()).not.toContain('Loading')
  expect(document.title).toContain('Trace · my-shop')
})

test.each<[string, Partial<TraceSpanDetails>, string]>([
  ['without anything special', {}, '10 ms Client, web [Attributes] span.id span_1'],
  [
    'that failed',
    { is_error: true, status_message: 'Timeout', request_id: 'req_1', kind: 'edge' },
    '10 ms Request at the edge, web Timeout Show request [Attributes] span.id span_1',
  ],
  ['that failed without a message', { is_error: true }, '10 ms Client, web The span failed. [Attributes] span.id span_1'],
  [
    'with phases and one attribute of each kind',
    {
      phases: [
        { name: 'wake', duration_ms: 2 },
        { name: 'app', duration_ms: 8 },
      ],
      attributes: { b: [1, 2], a: true },
      scope: 'pg',
    },
    '10 ms Client, web [Duration: wake 2 ms, app 8 ms] [Attributes] a true b 1, 2 scope pg span.id span_1',
  ],
  ['with one phase', { phases: [{ name: 'app', duration_ms: 8 }] }, '10 ms Client, web [Attributes] span.id span_1'],
  [
    'of a query',
    { attributes: { 'db.query.text': 'SELECT 1' } },
    '10 ms Client, web [SQL] SELECT 1 [Copy SQL] [Attributes] db.query.text SELECT 1 span.id span_1',
  ],
  [
    'of a query of an older SDK',
    { attributes: { 'db.statement': 'SELECT 1' } },
    '10 ms Client, web [SQL] SELECT 1 [Copy SQL] [Attributes] db.statement SELECT 1 span.id span_1',
  ],
  [
    'with an event before its start',
    { events: [{ name: 'exception', start_ms: -1, attributes: { type: 'Error' } }] },
    '10 ms Client, web [exception] exception 0 ms type Error [Attributes] span.id span_1',
  ],
])('a span %s', (_, own, expected) => expect(openSpan(createDetails(own)).text()).toBe(`SELECT ${expected} [Close]`))

test('a span is loading', () => expect(openSpan(null).text()).toBe('Span Loading [Close]'))

test('why a span cannot be loaded', async () => {
  const { text } = openSpan(null, { getTraceSpan: problemResponse('trace_not_found', 'It is no longer kept.') })
  await expect.poll(text).toContain('It is no longer kept.')
  expect(text()).not.toContain('Loading')
})
function openWaterfall(spans: TraceSpan[], { duration_ms = 100, logs = [] }: { duration_ms?: number; logs?: TraceLogLine[] } = {}) {
  const onSelect = vi.fn()
  return { ...renderPart(<Waterfall nodes={buildTree(spans, logs)} duration_ms={duration_ms} onSelect={onSelect} />), onSelect }
}
const bar = () => document.querySelector<HTMLElement>('button [style*="width"]')
const barLabel = () => bar()?.nextElementSibling

test('spans are collapsed and expanded, and their summary is shown', async () => {
  const spans = [
    createSpan('request', { kind: 'edge', summary: 'hidden' }),
    createSpan('handler', { parent_id: 'request', kind: 'server', summary: 'SELECT 1', is_error: true }),
  ]
  const logs: TraceLogLine[] = [{ time: '', start_ms: 5, line: '{"msg":"Started"}', stream: 'stdout', service: null, span_id: 'request' }]
  const { text, user, onSelect } = openWaterfall(spans, { logs })
  expect(text()).toBe('[Waterfall] [Spans] [Collapse request] edge request10 ms Started handler SELECT 110 ms')
  await user.click(screen.getByRole('button', { name: 'Collapse request' }))
  expect(text()).toBe('[Waterfall] [Spans] [Expand request] edge request +210 ms')
  await user.click(screen.getByRole('button', { name: 'Expand request' }))
  expect(text()).toContain('SELECT 1')
  await user.click(screen.getByRole('button', { name: /^handler/ }))
  expect(onSelect.mock.calls).toEqual([['handler']])
})

test.each<[string, number, number, number, string, string, string]>([
  ['at the start', 0, 50, 100, '0%', '50%', 'left: 50%;'],
  ['that ends late', 50, 40, 100, '50%', '40%', 'right: 50%;'],
  ['that ends at four fifths', 40, 40, 100, '40%', '40%', 'left: 80%;'],
  ['over the whole trace', 0, 100, 100, '0%', '100%', 'right: 0px;'],
  ['that starts at the limit of an outer label', 12, 80, 100, '12%', '80%', 'right: 88%;'],
  ['that ends after the trace', 90, 50, 100, '90%', '10%', 'right: 10%;'],
  ['that starts before the trace', -5, 50, 100, '0%', '50%', 'left: 50%;'],
  ['of a trace without a duration', 5, 5, 0, '0%', '0%', 'left: 0%;'],
])('the bar of a span %s', (_, start_ms, span_ms, duration_ms, left, width, label) => {
  openWaterfall([createSpan('handler', { start_ms, duration_ms: span_ms })], { duration_ms })
  expect(bar()?.style).toMatchObject({ left, width })
  expect(barLabel()?.getAttribute('style')).toBe(label)
})
