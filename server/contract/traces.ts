import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { branchName, dateTime, pageQuery, projectParams } from './shared.ts'

const { spans, days, per_second, spans_shown } = limits.tracing

const traceParams = projectParams.extend({ trace_id: z.string() })
const milliseconds = z.number().describe('Milliseconds.')
/** Text, numbers and lists of them; other values are written as JSON. */
const attributeValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number(), z.boolean()]))])
const attributes = z.record(z.string(), attributeValue)
export type SpanAttributes = z.output<typeof attributes>

export const traceSummary = z.object({
  trace_id: z.string().describe('W3C trace ID: 32 hexadecimal digits.'),
  start_time: dateTime,
  duration_ms: milliseconds.describe('Milliseconds from the start of the first span to the end of the last one.'),
  name: z.string().describe('The name of the span in which the trace entered the app.'),
  service: z.string(),
  method: z.string().nullable(),
  route: z.string().nullable().describe('The path template, such as `/users/:id`, or else the path.'),
  status: z.number().int().nullable().describe('The HTTP status that the app reported.'),
  spans: z.number().int().describe('How many spans the app sent.'),
  errors: z.number().int().describe('How many of them failed.'),
  branch: z.string().nullable().describe('The branch of a preview; null for production.'),
})
export type TraceSummary = z.output<typeof traceSummary>

const spanKind = z.enum(['edge', 'internal', 'server', 'client', 'producer', 'consumer'])
export type SpanKind = z.output<typeof spanKind>

export const traceSpan = z.object({
  span_id: z.string(),
  parent_id: z.string().nullable(),
  name: z.string(),
  kind: spanKind.describe('`edge`: the request as Homeport saw it, from the request log.'),
  service: z.string(),
  start_ms: milliseconds.describe('Milliseconds from the start of the trace.'),
  duration_ms: milliseconds,
  is_error: z.boolean(),
  summary: z.string().nullable().describe('The SQL statement, the URL or what else says what the span did, shortened.'),
  request_id: z.string().nullable().describe('Of the edge’s span: the ID of the request.'),
  phases: z
    .array(z.object({ name: z.enum(['wake', 'queue', 'app', 'transfer']), duration_ms: milliseconds }))
    .describe('Of the edge’s span: what its time was spent on, in order.'),
})
export type TraceSpan = z.output<typeof traceSpan>

const traceLogLine = z.object({
  time: dateTime,
  start_ms: milliseconds.describe('Milliseconds from the start of the trace.'),
  line: z.string(),
  stream: z.enum(['stdout', 'stderr']),
  service: z.string().nullable().describe('The service of the project; null for the main one.'),
  span_id: z.string().nullable().describe('The span whose ID the line contains.'),
})
export type TraceLogLine = z.output<typeof traceLogLine>

const traceSpanDetails = traceSpan.extend({
  status_message: z.string().nullable(),
  scope: z.string().nullable().describe('The library that created the span.'),
  attributes,
  events: z.array(z.object({ name: z.string(), start_ms: milliseconds, attributes })),
})
export type TraceSpanDetails = z.output<typeof traceSpanDetails>

const numberQuery = z
  .string()
  .regex(/^\d{1,9}$/, 'Use a whole number.')
  .transform(Number)
  .pipe(z.number().int())

const traceFilters = z.object({
  route: z.string().max(200).optional().describe('The start of the route, or a pattern with `*` for any characters.'),
  status: z
    .string()
    .regex(/^(?:[1-5]xx|[1-5]\d\d)$/i, 'Use a status such as 404, or a class such as 5xx.')
    .optional(),
  min_duration_ms: numberQuery.optional(),
  errors: z.enum(['true']).optional().describe('Only traces with a failed span.'),
  branch: branchName.optional().describe('Only traces of the preview of this branch.'),
})
export type TraceFilters = z.output<typeof traceFilters>

/** Not among the 45 operations: the traces that the apps of a project sent by OTLP. */
export const traceOperations = {
  listTraces: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/traces',
    resource: 'project',
    group: 'Instance',
    summary: 'List the traces that the apps of a project sent, the newest first',
    description: `The last ${spans} spans of ${days} days are kept.`,
    access: 'caller',
    params: projectParams,
    query: pageQuery.extend(traceFilters.shape),
    success: {
      status: 200,
      json: z.object({
        traces: z.array(traceSummary),
        next_cursor: z.string().nullable(),
        is_enabled: z.boolean().describe('Whether traces of this project are stored (`tracing` of its settings).'),
        dropped_spans: z
          .number()
          .int()
          .describe(`Spans that were not stored, because they were not valid or more than ${per_second} arrived in a second.`),
      }),
    },
    errors: ['invalid_input', 'project_not_found'],
  }),
  getTrace: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/traces/{trace_id}',
    resource: 'project',
    group: 'Instance',
    summary: 'Get a trace: the request at the edge, the spans of the app, and the log lines with its ID',
    description: 'Also for a request whose app sent no spans. Log lines are found by the trace ID or the request ID in their text.',
    access: 'caller',
    params: traceParams,
    query: z.object({}),
    success: {
      status: 200,
      json: z.object({
        trace: traceSummary,
        spans: z.array(traceSpan).describe('Parents before their children, siblings by their start.'),
        logs: z.array(traceLogLine),
        is_truncated: z.boolean().describe(`Whether the trace has more than ${spans_shown} spans.`),
      }),
    },
    errors: ['project_not_found', 'trace_not_found'],
  }),
  getTraceSpan: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/traces/{trace_id}/spans/{span_id}',
    resource: 'project',
    group: 'Instance',
    summary: 'Get the attributes and events of a span',
    description: 'Secrets of the project are masked.',
    access: 'caller',
    params: traceParams.extend({ span_id: z.string() }),
    query: z.object({}),
    success: { status: 200, json: z.object({ span: traceSpanDetails }) },
    errors: ['project_not_found', 'trace_not_found'],
  }),
}
