import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { Waterfall } from '../../../renderer/features/traces/waterfall.tsx'
import { buildTree } from '../../../renderer/features/traces/waterfall-rows.ts'
import { type TraceLogLine, type TraceSpan, traceSpan } from '../../../server/contract/traces.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

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
function openWaterfall(spans: TraceSpan[], { duration_ms = 100, logs = [] }: { duration_ms?: number; logs?: TraceLogLine[] } = {}) {
  const onSelect = vi.fn()
  return { ...renderPart(<Waterfall nodes={buildTree(spans, logs)} duration_ms={duration_ms} onSelect={onSelect} />), onSelect }
}
const bar = () => document.querySelector<HTMLElement>('button [style*="width"]')
const barLabel = () => bar()?.nextElementSibling

afterEach(() => history.replaceState(null, '', '/app/'))

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
