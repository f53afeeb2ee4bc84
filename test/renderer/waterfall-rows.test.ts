import { describe, expect, test } from 'vitest'
import { buildTree, listRows } from '../../renderer/features/traces/waterfall-rows.ts'
import type { TraceLogLine, TraceSpan } from '../../server/contract/traces.ts'

const span = (span_id: string, parent_id: string | null = null): TraceSpan => ({
  span_id,
  parent_id,
  name: span_id,
  kind: 'internal',
  service: 'shop',
  start_ms: 0,
  duration_ms: 1,
  is_error: false,
  summary: null,
  request_id: null,
  phases: [],
})
const log = (line: string, span_id: string | null): TraceLogLine => ({ time: '', start_ms: 0, line, stream: 'stdout', service: null, span_id })
const spans = [span('edge'), span('handler', 'edge'), span('sql', 'handler'), span('call', 'handler'), span('late', 'gone')]
const nodes = buildTree(spans, [log('named', 'handler'), log('other', null), log('unknown', 'missing')])
const show = (collapsed: string[] = []) =>
  listRows(nodes, new Set(collapsed)).map((row) => `${' '.repeat(row.depth)}${row.kind === 'log' ? `| ${row.log.line}` : row.span.name}`)

describe('the rows of a waterfall', () => {
  test('are the spans by their parents, with the log lines that name them; others belong to the first span', () => {
    expect(show()).toEqual(['edge', ' | other', ' | unknown', ' handler', '  | named', '  sql', '  call', 'late'])
    expect(new Set(listRows(nodes, new Set()).map(({ key }) => key)).size).toBe(8)
  })

  test('leave out what is below a collapsed span', () => {
    expect(show(['handler'])).toEqual(['edge', ' | other', ' | unknown', ' handler', 'late'])
    expect(show(['edge', 'handler'])).toEqual(['edge', 'late'])
    expect(listRows(nodes, new Set(['edge']))[0]).toMatchObject({ is_collapsed: true, hidden: 6 })
    expect(listRows(nodes, new Set(['handler']))[3]).toMatchObject({ is_collapsed: true, hidden: 3, has_children: true })
  })
})
