import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { traceOperations, TraceLogLine } from '../contract/traces.ts'
import type { LoggedRequest } from '../contract/requests.ts'
import { isSpanId, isTraceId, requestIdOf } from '../lib/trace-context.ts'
import { encodeCursor } from '../store/pagination.ts'
import type { StoredTrace } from '../store/trace-store.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'
import { searchNewest } from './request-search.ts'
import { presentRequest } from './requests.ts'
import { findLogLines } from './trace-logs.ts'
import { findNamedSpan, joinSpans, presentSpan, presentTrace, summarizeRequest, toEdgeSpan, toMs } from './trace-view.ts'
import type { SpanDetails } from '../tracing/normalize-span.ts'

const { tracing } = limits
/** Requests of one trace that are shown. */
const maxRequests = 100

export function createTraceHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof traceOperations> {
  const { traces: store, requests, logs } = deps.store

  const findRequests = (projectId: string, traceId: string): LoggedRequest[] => {
    const own = requestIdOf(traceId)
    return requests.listOfTrace(projectId, traceId, own === undefined ? [] : [own], maxRequests).map(presentRequest)
  }

  /** Lines of all logs of the project that contain the trace ID or the ID of one of its requests. */
  const findLines = async (projectId: string, branch: string | null, search: Omit<Parameters<typeof findLogLines>[2], 'limit'>) => {
    const found = []
    for (const { service, stream } of deps.deployments.services.listLogs({ project_id: projectId, branch: branch ?? undefined }))
      for (const line of await findLogLines(logs, stream, { ...search, limit: tracing.log_lines - found.length })) found.push({ ...line, service })
    return found.sort((a, b) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0))
  }

  return {
    async listTraces({ project }, { query: { limit = limits.page.default, cursor, ...filters } }) {
      const list = `traces ${project.id}`
      const before = parseCursor(list, cursor)
      await deps.traces.flush()
      const { from, to } = store.readRange(project.id)
      const rows = await searchNewest<StoredTrace>(deps.clock, (range) => store.listTraces(project.id, filters, range), {
        from,
        to: Math.min(to, before ?? to),
        limit: limit + 1,
      })
      const end = rows.length > limit ? rows[limit - 1] : undefined
      return {
        traces: rows.slice(0, limit).map(presentTrace),
        next_cursor: end ? encodeCursor(list, end.number) : null,
        is_enabled: project.tracing === 1,
        dropped_spans: store.countDropped(project.id),
      }
    },

    async getTrace({ project }, { params: { trace_id } }) {
      if (!isTraceId(trace_id)) throw traceNotFound()
      await Promise.all([deps.traces.flush(), deps.requests.flush()])
      const stored = store.findTrace(project.id, trace_id)
      const seen = findRequests(project.id, trace_id)
      const [first] = seen
      const trace = stored ? presentTrace(stored) : first && summarizeRequest(trace_id, first)
      if (!trace) throw traceNotFound()
      const rows = store.listSpans(project.id, trace_id, tracing.spans_shown + 1)
      const { start_us, end_us, spans } = joinSpans(seen, rows.slice(0, tracing.spans_shown))
      const texts = [trace_id, ...seen.map(({ id }) => id)]
      const lines = await findLines(project.id, trace.branch, { from_ms: start_us / 1000, to_ms: end_us / 1000, texts })
      const spanIds = new Set(spans.map(({ span_id }) => span_id))
      return {
        trace: { ...trace, start_time: new Date(Math.floor(start_us / 1000)).toISOString(), duration_ms: toMs(end_us - start_us) },
        spans,
        logs: lines.map(({ ts, line, stream, service }): TraceLogLine => ({
          time: ts,
          start_ms: toMs(Date.parse(ts) * 1000 - start_us),
          line,
          stream,
          service,
          span_id: findNamedSpan(line, spanIds),
        })),
        is_truncated: rows.length > tracing.spans_shown,
      }
    },

    async getTraceSpan({ project }, { params: { trace_id, span_id } }) {
      if (!isTraceId(trace_id) || !isSpanId(span_id)) throw traceNotFound()
      await deps.traces.flush()
      const row = store.findSpan(project.id, trace_id, span_id)
      if (row) {
        const { events, ...details } = JSON.parse(row.details) as SpanDetails
        return {
          span: {
            ...presentSpan(row, row.start_us),
            ...details,
            events: events.map(({ start_us, ...event }) => ({ ...event, start_ms: toMs(start_us) })),
          },
        }
      }
      const request = findRequests(project.id, trace_id).find((one) => one.span_id === span_id)
      if (!request) throw traceNotFound()
      return {
        span: { ...toEdgeSpan(request).span, status_message: request.failure, scope: 'homeport', attributes: describeRequest(request), events: [] },
      }
    },
  }
}

const describeRequest = ({
  method,
  host,
  path,
  query,
  scheme,
  protocol,
  status,
  bytes,
  cache,
  deployment_id,
  client_ip,
  user_agent,
}: LoggedRequest) =>
  Object.fromEntries(
    Object.entries({
      'http.request.method': method,
      'url.full': `${scheme}://${host}${path}${query === null ? '' : `?${query}`}`,
      'http.response.status_code': status,
      'http.response.body.size': bytes,
      'network.protocol.name': protocol,
      'client.address': client_ip,
      'user_agent.original': user_agent,
      'homeport.cache': cache,
      'homeport.deployment.id': deployment_id,
    }).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  )

const traceNotFound = () =>
  new Problem('trace_not_found', 'There is no such trace or span in this project. It may be older than what is kept. Check the ID.')
