import { limits } from '../contract/limits.ts'
import type { SpanAttributes } from '../contract/traces.ts'
import { maskQuery } from '../lib/query-mask.ts'
import type { NewSpan } from '../store/trace-store.ts'
import type { ReceivedSpan } from './otlp-schema.ts'
import { cutText, type MaskText, readAttributes, readId, readTime } from './span-values.ts'

const { tracing } = limits
const kinds = { server: 2, consumer: 5 }
const errorStatus = 2

/** What is stored of a span as JSON. Times are microseconds from the start of the span. */
export interface SpanDetails {
  status_message: string | null
  scope: string | null
  attributes: SpanAttributes
  events: { name: string; start_us: number; attributes: SpanAttributes }[]
}

/** A received span as it is stored: bounded in size and without the secrets of its project. Undefined if its IDs or times are not valid. */
export function normalizeSpan(
  { span, scope, resource }: ReceivedSpan,
  { mask, branch, now }: { mask: MaskText; branch: string | null; now: number },
): NewSpan | undefined {
  const trace_id = readId(span.traceId, 16)
  const span_id = readId(span.spanId, 8)
  const start_us = readTime(span.startTimeUnixNano)
  const end_us = readTime(span.endTimeUnixNano)
  if (trace_id === undefined || span_id === undefined || start_us === undefined || end_us === undefined) return undefined

  const kind = typeof span.kind === 'number' && span.kind >= 1 && span.kind <= 5 ? Math.floor(span.kind) : 1
  const parent_id = readId(span.parentSpanId, 8) ?? null
  const attributes = hideCredentials(readAttributes(span.attributes, mask))
  const details: SpanDetails = {
    status_message: cutText(span.status?.message, mask, tracing.value) || null,
    scope: scope === null ? null : cutText(scope, mask, tracing.key),
    attributes,
    events: readEvents(span.events, start_us, mask),
  }
  const text = writeDetails(details)
  const http = describeHttp(attributes)
  const isEntry = kind === kinds.server || kind === kinds.consumer
  const row = {
    trace_id,
    span_id,
    parent_id,
    name: cutText(span.name, mask, tracing.name) || 'span',
    kind,
    service: readService(resource, mask),
    start_us,
    duration_us: Math.max(0, end_us - start_us),
    is_error: span.status?.code === errorStatus ? (1 as const) : (0 as const),
    summary: summarize(attributes, http),
    details: text,
    received_at: now,
    entry: { entry_rank: isEntry ? 0 : parent_id === null ? 1 : 2, ...(isEntry ? http : noHttp), branch },
  }
  return { ...row, bytes: rowOverhead_bytes + text.length + row.name.length + (row.summary?.length ?? 0) }
}

/** Credentials in queries and in captured headers, which are no variables of the project. */
function hideCredentials(attributes: SpanAttributes): SpanAttributes {
  const hide = ([key, value]: [string, SpanAttributes[string]]): [string, SpanAttributes[string]] => {
    if (/^http\.(?:request|response)\.header\.(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)$/i.test(key)) return [key, '***']
    if (typeof value !== 'string') return [key, value]
    if (key === 'url.query') return [key, maskQuery(value)]
    const question = urlAttributes.has(key) ? value.indexOf('?') : -1
    return [key, question < 0 ? value : value.slice(0, question + 1) + maskQuery(value.slice(question + 1))]
  }
  return Object.fromEntries(Object.entries(attributes).map(hide))
}
const urlAttributes = new Set(['url.full', 'url.path', 'http.url', 'http.target'])

/** IDs, numbers, and the entries of a row in the indexes. */
const rowOverhead_bytes = 250

function readEvents(events: unknown, start_us: number, mask: MaskText): SpanDetails['events'] {
  if (!Array.isArray(events)) return []
  return (events as ({ name?: unknown; timeUnixNano?: unknown; attributes?: unknown } | null)[]).slice(0, tracing.events).map((event) => ({
    name: cutText(event?.name, mask, tracing.name),
    start_us: (readTime(event?.timeUnixNano) ?? start_us) - start_us,
    attributes: readAttributes(event?.attributes, mask, 16),
  }))
}

/** A span that is too large loses its events, and then the rest of its attributes. */
function writeDetails(details: SpanDetails): string {
  let text = JSON.stringify(details)
  if (text.length > tracing.span_bytes) text = JSON.stringify({ ...details, events: [] })
  if (text.length <= tracing.span_bytes) return text
  const attributes = Object.fromEntries(Object.entries(details.attributes).map(([key, value]) => [key, cutValue(value)]))
  return JSON.stringify({ ...details, attributes, events: [] })
}

/** So many characters of each of the attributes fit. */
const shortValue = Math.floor(tracing.span_bytes / tracing.attributes / 4)
const cutValue = (value: SpanAttributes[string]): string | number | boolean =>
  typeof value === 'string' ? value.slice(0, shortValue) : Array.isArray(value) ? JSON.stringify(value).slice(0, shortValue) : value

function readService(resource: unknown, mask: MaskText): string {
  // The attributes of an SDK's resource come in no particular order, and are few.
  const name = readAttributes(resource, mask)['service.name']
  return typeof name === 'string' ? name.slice(0, tracing.key) : 'unknown'
}

type HttpFacts = Pick<NewSpan['entry'], 'method' | 'route' | 'status'>
const noHttp: HttpFacts = { method: null, route: null, status: null }

/** By the semantic conventions of OpenTelemetry, stable and older. */
function describeHttp(attributes: SpanAttributes): HttpFacts {
  const textOf = (...names: string[]): string | null => {
    for (const name of names) if (typeof attributes[name] === 'string') return attributes[name].slice(0, tracing.summary)
    return null
  }
  const status = attributes['http.response.status_code'] ?? attributes['http.status_code']
  const path = textOf('url.path', 'http.target')
  return {
    method: textOf('http.request.method', 'http.method')?.slice(0, 20) ?? null,
    route: textOf('http.route') ?? path?.replace(/\?.*$/s, '') ?? null,
    status: typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599 ? status : null,
  }
}

const summaryAttributes = [
  'db.query.text',
  'db.statement',
  'url.full',
  'http.url',
  'http.route',
  'url.path',
  'http.target',
  'messaging.destination.name',
  'rpc.method',
  'exception.message',
  'code.function.name',
]

function summarize(attributes: SpanAttributes, { method, status }: HttpFacts): string | null {
  const found = summaryAttributes.find((name) => typeof attributes[name] === 'string' && attributes[name] !== '')
  if (found === undefined) return null
  const text = String(attributes[found]).replace(/\s+/g, ' ').trim()
  const isUrl = found.startsWith('url') || found.startsWith('http')
  return [isUrl && method, text, isUrl && status].filter(Boolean).join(' ').slice(0, tracing.summary)
}
