import type { TraceLogLine, TraceSpan, TraceSummary } from '../contract/traces.ts'
import type { LoggedRequest } from '../contract/requests.ts'
import { isoTime } from '../lib/clock.ts'
import type { SpanOutline, StoredTrace } from '../store/trace-store.ts'

const kindNames = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const

/** Requests of the edge and spans of the app as one list: parents before their children, siblings by their start. */
export function joinSpans(
  requests: readonly LoggedRequest[],
  rows: readonly SpanOutline[],
): { start_us: number; end_us: number; spans: TraceSpan[] } {
  const edge = requests.map(toEdgeSpan)
  const start_us = Math.min(...edge.map(({ start_us }) => start_us), ...minOf(rows.map((row) => row.start_us)))
  const end_us = edge.map(({ start_us, span }) => start_us + span.duration_ms * 1000).concat(rows.map((row) => row.start_us + row.duration_us))
  const spans = [
    ...edge.map(({ span, start_us: at }) => ({ ...span, start_ms: toMs(at - start_us) })),
    ...rows.map((row) => presentSpan(row, start_us)),
  ]
  return { start_us, end_us: end_us.reduce((a, b) => Math.max(a, b), start_us), spans: orderSpans(spans) }
}

/** At most one value, because a call takes only so many arguments. */
const minOf = (values: readonly number[]): number[] => (values.length === 0 ? [] : [values.reduce((a, b) => Math.min(a, b))])

export const presentSpan = (row: SpanOutline, start_us: number): TraceSpan => ({
  span_id: row.span_id,
  parent_id: row.parent_id,
  name: row.name,
  kind: kindNames[row.kind] ?? 'internal',
  service: row.service,
  start_ms: toMs(row.start_us - start_us),
  duration_ms: toMs(row.duration_us),
  is_error: row.is_error === 1,
  summary: row.summary,
  request_id: null,
  phases: [],
})

export function toEdgeSpan(request: LoggedRequest): { start_us: number; span: TraceSpan } {
  const { id, span_id, method, path, query, status, duration_ms, wake_ms, queue_ms, app_ms, transfer_ms, time } = request
  const phases = [
    { name: 'wake' as const, duration_ms: wake_ms },
    { name: 'queue' as const, duration_ms: queue_ms ?? 0 },
    { name: 'app' as const, duration_ms: app_ms ?? 0 },
    { name: 'transfer' as const, duration_ms: transfer_ms },
  ]
  const span: TraceSpan = {
    span_id,
    parent_id: null,
    name: `${method} ${path}`,
    kind: 'edge',
    service: 'edge',
    start_ms: 0,
    duration_ms,
    is_error: status >= 500,
    summary: `${method} ${path}${query === null ? '' : `?${query}`} ${status}`,
    request_id: id,
    phases: phases.filter((phase) => phase.duration_ms > 0),
  }
  return { start_us: Date.parse(time) * 1000, span }
}

/** Spans form a tree by their parents. A span whose parent is missing is a root, and so is one of each cycle. */
function orderSpans(spans: readonly TraceSpan[]): TraceSpan[] {
  const byId = new Map(spans.map((span) => [span.span_id, span]))
  const children = new Map<string | null, TraceSpan[]>()
  for (const span of spans) {
    const parent = span.parent_id !== null && span.parent_id !== span.span_id && byId.has(span.parent_id) ? span.parent_id : null
    const siblings = children.get(parent) ?? []
    siblings.push(span)
    children.set(parent, siblings)
  }
  for (const siblings of children.values()) siblings.sort((a, b) => a.start_ms - b.start_ms)
  const ordered: TraceSpan[] = []
  const seen = new Set<TraceSpan>()
  const addTree = (start: TraceSpan): void => {
    const stack = [start]
    for (let span = stack.pop(); span; span = stack.pop()) {
      if (seen.has(span)) continue
      seen.add(span)
      ordered.push(span)
      stack.push(...(children.get(span.span_id) ?? []).toReversed())
    }
  }
  for (const root of children.get(null) ?? []) addTree(root)
  for (const span of spans) if (!seen.has(span)) addTree(span)
  return ordered
}

export const presentTrace = (row: StoredTrace): TraceSummary => ({
  trace_id: row.trace_id,
  start_time: isoTime(Math.floor(row.start_us / 1000)),
  duration_ms: toMs(row.end_us - row.start_us),
  name: row.name,
  service: row.service,
  method: row.method,
  route: row.route,
  status: row.status,
  spans: row.spans,
  errors: row.errors,
  branch: row.branch,
})

/** A trace of which only the request is known, because its app sent no spans. */
export const summarizeRequest = (traceId: string, { method, path, status, time, duration_ms }: LoggedRequest): TraceSummary => ({
  trace_id: traceId,
  start_time: time,
  duration_ms,
  name: `${method} ${path}`,
  service: 'edge',
  method,
  route: path,
  status,
  spans: 0,
  errors: 0,
  branch: null,
})

/** The first span that a line names. */
export const findNamedSpan = (line: string, spanIds: ReadonlySet<string>): string | null =>
  [...line.matchAll(/(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g)].map(([id]) => id).find((id) => spanIds.has(id)) ?? null

export const toMs = (us: number): number => Math.round(us) / 1000

export type FoundLine = Pick<TraceLogLine, 'line' | 'stream' | 'service'> & { ts: string }
