import { ApiError } from '../client/api-error.ts'
import type { TraceFilters, TraceLogLine, TraceSpan, TraceSummary } from '../contract/traces.ts'
import { limits } from '../contract/limits.ts'
import type { CallOutput } from '../client/operation-types.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { colorize, sanitizeLine, type Terminal } from './terminal.ts'

const defaultLimit = 20

export const traces: CliCommand = {
  summary: 'Shows the traces that the apps of a project sent by OpenTelemetry.',
  usage: ['traces SLUG [--route GLOB] [--status 5xx] [--slow MS] [--errors] [--branch NAME] [--limit N]', 'traces SLUG ID'],
  options: {
    route: '=GLOB the start of the route, or a pattern with * such as "/orders/*"',
    status: '=S a status such as 404, or a class such as 5xx',
    slow: '=MS traces that took at least this many milliseconds',
    errors: 'traces with a failed span',
    branch: '=NAME traces of the preview of this branch',
    limit: `=N number of traces, up to ${limits.page.max} (default ${defaultLimit})`,
  },
  details:
    'ID is a trace ID, or the ID of a request. A trace is printed as a waterfall: the request at the edge, the spans of the app, and the log lines with its ID. The newest trace is the last line of a list. With --json each line of a list is one trace.',
  async run(context) {
    const [slug = '', id] = requirePositionals(context, 'SLUG', '[ID]')
    return id === undefined ? list(context, slug) : show(context, slug, id)
  },
}

function readFilters({ flags }: CommandContext): TraceFilters {
  const slow = stringFlag(flags, 'slow')
  const status = stringFlag(flags, 'status')
  if (slow !== undefined && !/^\d{1,9}$/.test(slow)) throw new UsageError('--slow must be a number of milliseconds.')
  if (status !== undefined && !/^[1-5](?:xx|\d\d)$/i.test(status))
    throw new UsageError('--status must be a status such as 404, or a class such as 5xx.')
  return {
    route: stringFlag(flags, 'route'),
    status,
    min_duration_ms: slow === undefined ? undefined : Number(slow),
    errors: flags.errors === true ? 'true' : undefined,
    branch: stringFlag(flags, 'branch'),
  }
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, flags, is_json } = context
  const limit = stringFlag(flags, 'limit') ?? String(defaultLimit)
  if (!/^\d+$/.test(limit) || Number(limit) < limits.page.min || Number(limit) > limits.page.max)
    throw new UsageError(`--limit must be a whole number up to ${limits.page.max}.`)
  const { min_duration_ms, ...filters } = readFilters(context)
  const query = { ...filters, ...(min_duration_ms !== undefined && { min_duration_ms: String(min_duration_ms) }), limit }
  const page = await context.connect().call('listTraces', { params: { slug }, query })
  if (!page.is_enabled) terminal.err(`Traces of this project are off: homeport projects set ${slug} tracing=true`)
  if (page.dropped_spans > 0) terminal.err(`(${page.dropped_spans} spans were not stored so far: not valid, or too many in a second)`)
  for (const trace of page.traces.toReversed()) terminal.out(is_json ? JSON.stringify(trace) : formatTrace(terminal, trace))
  if (page.traces.length === 0 && !is_json) terminal.out('No traces. How apps send them: homeport help traces')
  return exitCodes.success
}

function formatTrace(terminal: Terminal, { start_time, method, status, duration_ms, spans, errors, route, name, trace_id }: TraceSummary): string {
  const failed = errors === 0 ? '' : colorize(terminal, 'red', `  ${errors} failed`)
  const fields = [
    start_time,
    trace_id,
    (method ?? '-').padEnd(6),
    String(status ?? '-').padEnd(3),
    formatMs(duration_ms).padStart(8),
    `${spans} spans`.padStart(9),
  ]
  return `${fields.join('  ')}  ${sanitizeLine(terminal, route ?? name)}${failed}`
}

async function show(context: CommandContext, slug: string, id: string): Promise<number> {
  const client = context.connect()
  const trace_id = id.startsWith('req_') ? (await client.call('getRequest', { params: { id } })).request.trace_id : id
  const found = await client.call('getTrace', { params: { slug, trace_id } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'route_not_found')
      throw new UsageError('This instance runs an older Homeport, which has no traces.')
    throw error
  })
  if (context.is_json) context.terminal.out(JSON.stringify(found))
  else for (const line of drawWaterfall(context.terminal, found)) context.terminal.out(line)
  return exitCodes.success
}

const barWidth = 30
const nameWidth = 44

/** One line per span, indented by its depth, with a bar for its time; log lines after the span that they name. */
function drawWaterfall(terminal: Terminal, { trace, spans, logs, is_truncated }: CallOutput<'getTrace'>): string[] {
  const depths = new Map<string, number>()
  for (const { span_id, parent_id } of spans) depths.set(span_id, parent_id === null ? 0 : (depths.get(parent_id) ?? -1) + 1)
  const [root] = spans
  const logsOf = (span: TraceSpan) => logs.filter(({ span_id }) => (span_id ?? root?.span_id) === span.span_id)
  return [
    colorize(terminal, 'bold', `${trace.trace_id}  ${formatMs(trace.duration_ms)}`),
    ...spans.flatMap((span) => {
      const depth = depths.get(span.span_id) ?? 0
      return [drawSpan(terminal, span, depth, trace.duration_ms), ...logsOf(span).map((line) => drawLine(terminal, line, depth + 1))]
    }),
    ...(is_truncated ? [`(only the first ${limits.tracing.spans_shown} spans are shown)`] : []),
  ]
}

function drawSpan(terminal: Terminal, span: TraceSpan, depth: number, total_ms: number): string {
  const at = total_ms === 0 ? 0 : Math.min(barWidth - 1, Math.max(0, Math.floor((span.start_ms / total_ms) * barWidth)))
  const length = total_ms === 0 ? 1 : Math.max(1, Math.round((span.duration_ms / total_ms) * barWidth))
  const bar = `${' '.repeat(at)}${'█'.repeat(Math.min(length, barWidth - at))}`.padEnd(barWidth)
  const label = sanitizeLine(terminal, `${' '.repeat(Math.min(depth, 12) * 2)}${span.kind === 'edge' ? 'edge ' : ''}${span.name}`)
  const shown = (label.length > nameWidth ? `${label.slice(0, nameWidth - 1)}…` : label).padEnd(nameWidth)
  const what = span.kind === 'edge' ? span.phases.map(({ name, duration_ms }) => `${name} ${formatMs(duration_ms)}`).join(', ') : (span.summary ?? '')
  const color = span.is_error ? 'red' : span.kind === 'edge' ? 'cyan' : 'green'
  return `${span.is_error ? colorize(terminal, 'red', shown) : shown} ${colorize(terminal, color, bar)} ${formatMs(span.duration_ms).padStart(8)}  ${sanitizeLine(terminal, what)}`
}

const drawLine = (terminal: Terminal, { line, start_ms }: TraceLogLine, depth: number): string =>
  `${' '.repeat(Math.min(depth, 12) * 2)}| ${formatMs(start_ms)}  ${sanitizeLine(terminal, line)}`

const formatMs = (ms: number): string =>
  Math.abs(ms) >= 10_000 ? `${Math.round(ms / 1000)} s` : `${Math.abs(ms) >= 100 ? Math.round(ms) : Number(ms.toPrecision(2))} ms`
