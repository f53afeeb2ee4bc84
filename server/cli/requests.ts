import type { CapturedExchange } from '../contract/request-captures.ts'
import type { LoggedRequest, RequestFilters } from '../contract/requests.ts'
import { limits } from '../contract/limits.ts'
import { toHar } from '../contract/request-har.ts'
import type { ApiClient } from './client.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { readTimeFlag } from './read-time.ts'
import { captureCommand, replayCommand } from './request-replay.ts'
import { colorize, formatBytes, formatTable, sanitizeLine, type Terminal } from './terminal.ts'

const defaultLimit = 50
const maxLimit = limits.request_log.exported

export const requests: CliCommand = {
  summary: 'Shows the requests that the apps of a project answered.',
  usage: [
    'requests SLUG [--follow] [--status 5xx] [--method M] [--path GLOB] [--since 15m] [--limit N] [--har]',
    'requests show ID',
    'requests capture SLUG [on|off] [--for 1h] [--path GLOB] [--mask FIELD,FIELD]',
    'requests replay ID [--to production|BRANCH|DEPLOYMENT]',
  ],
  options: {
    follow: 'keep following until Ctrl-C',
    status: '=S a status such as 404, or a class such as 5xx',
    method: '=M such as POST',
    path: '=GLOB the start of the path, or a pattern with * such as "*.png"',
    host: '=NAME a hostname of the project, such as that of a preview',
    deployment: '=ID requests that this deployment answered',
    replica: '=N requests that this replica answered',
    cache: '=R hit, stale, miss or bypass',
    'cache-reason': '=TEXT requests whose cache reason has this text, such as "no lifetime"',
    query: '=TEXT requests whose query string has this text',
    client: '=ADDRESS requests from the network of this address',
    'user-agent': '=TEXT requests whose user agent has this text, such as curl',
    trace: '=ID requests of this trace',
    slow: '=MS requests that took at least this many milliseconds',
    woke: 'only requests that woke the app',
    'min-bytes': '=N requests whose response body has at least this many bytes',
    since: '=T only newer ones: 30s, 15m, 2h, 1d or a time such as 2026-05-01T12:00:00Z',
    until: '=T only older ones',
    limit: `=N number of requests, up to ${maxLimit} (default ${defaultLimit}; with --follow none, with --har ${maxLimit})`,
    for: '=T how long to capture headers and bodies: 30m, 2h; at most 24h (default 1h)',
    mask: '=LIST names of headers and fields that are masked too, separated by commas',
    to: '=TARGET where to replay: production (default), a branch with a preview, or the ID of a deployment that serves',
    body: '=TEXT another body for the replay; --method and --path change those',
    har: 'one HAR 1.2 document, for the network panel of a browser',
  },
  details:
    'The newest request is the last line. With --json each line is one request. Capture keeps headers and bodies of requests, encrypted and with secrets masked; replay sends a captured request again and exits with 1 if the response differs.',
  async run(context) {
    const [first = '', id] = context.positionals
    if (first === 'show' && id !== undefined) return show(context, id)
    if (first === 'replay' && id !== undefined) return replayCommand(context, id)
    if (first === 'capture' && id !== undefined) return captureCommand(context, id, context.positionals[2])
    const [slug = ''] = requirePositionals(context, 'SLUG')
    if (context.flags.har === true && context.flags.follow === true) throw new UsageError('--har and --follow exclude each other.')
    const filters = readFilters(context)
    const client = context.connect()
    const lastEventId = await list(context, client, slug, filters)
    if (context.flags.follow === true) await follow(context, client, slug, filters, lastEventId)
    return exitCodes.success
  },
}

function readFilters({ flags, clock }: CommandContext): RequestFilters {
  const cache = stringFlag(flags, 'cache')
  const slow = stringFlag(flags, 'slow')
  if (cache !== undefined && !isCacheResult(cache)) throw new UsageError('--cache must be hit, stale, miss or bypass.')
  if (slow !== undefined && !/^\d{1,9}$/.test(slow)) throw new UsageError('--slow must be a number of milliseconds.')
  const status = stringFlag(flags, 'status')
  if (status !== undefined && !/^[1-5](?:xx|\d\d)$/i.test(status))
    throw new UsageError('--status must be a status such as 404, or a class such as 5xx.')
  const bytes = stringFlag(flags, 'min-bytes')
  if (bytes !== undefined && !/^\d{1,9}$/.test(bytes)) throw new UsageError('--min-bytes must be a whole number of bytes.')
  const trace = stringFlag(flags, 'trace')
  if (trace !== undefined && !/^[0-9a-f]{32}$/.test(trace)) throw new UsageError('--trace must be a trace ID: 32 hexadecimal digits.')
  const replica = stringFlag(flags, 'replica')
  if (replica !== undefined && !/^\d{1,2}$/.test(replica)) throw new UsageError('--replica must be the number of a replica, such as 2.')
  return {
    status,
    method: stringFlag(flags, 'method'),
    path: stringFlag(flags, 'path'),
    host: stringFlag(flags, 'host'),
    deployment: stringFlag(flags, 'deployment'),
    replica: replica === undefined ? undefined : Number(replica),
    cache,
    cache_status: stringFlag(flags, 'cache-reason'),
    query: stringFlag(flags, 'query'),
    client_ip: stringFlag(flags, 'client'),
    user_agent: stringFlag(flags, 'user-agent'),
    trace_id: trace,
    min_duration_ms: slow === undefined ? undefined : Number(slow),
    min_wake_ms: flags.woke === true ? 1 : undefined,
    min_bytes: bytes === undefined ? undefined : Number(bytes),
    since: readTimeFlag('since', stringFlag(flags, 'since'), clock.now()),
    until: readTimeFlag('until', stringFlag(flags, 'until'), clock.now()),
  }
}

const isCacheResult = (text: string): text is NonNullable<RequestFilters['cache']> => /^(?:hit|stale|miss|bypass)$/.test(text)

const toQuery = <Filters extends RequestFilters>({ min_duration_ms, min_wake_ms, min_bytes, replica, ...filters }: Filters) => ({
  ...filters,
  ...(replica !== undefined && { replica: String(replica) }),
  ...(min_duration_ms !== undefined && { min_duration_ms: String(min_duration_ms) }),
  ...(min_wake_ms !== undefined && { min_wake_ms: String(min_wake_ms) }),
  ...(min_bytes !== undefined && { min_bytes: String(min_bytes) }),
})

/** Prints the last requests, the newest last. Returns the position from which to follow. */
async function list(context: CommandContext, client: ApiClient, slug: string, filters: RequestFilters): Promise<string> {
  const wanted = readLimit(context)
  const found: LoggedRequest[] = []
  let cursor: string | undefined
  let lastEventId: string | undefined
  for (;;) {
    const limit = String(Math.min(limits.page.max, Math.max(limits.page.min, wanted - found.length)))
    const page = await client.call('listRequests', {
      params: { slug },
      query: { ...toQuery(filters), limit, ...(cursor !== undefined && { cursor }) },
    })
    lastEventId ??= page.last_event_id
    if (!page.is_recording && cursor === undefined)
      context.terminal.err('The request log of this instance is off: homeport settings set request_log true')
    found.push(...page.requests.slice(0, wanted - found.length))
    if (page.next_cursor === null || found.length >= wanted) break
    cursor = page.next_cursor
  }
  found.reverse()
  if (context.flags.har === true) {
    const { instance } = await client.call('getSession', {})
    context.terminal.out(JSON.stringify(toHar(found, instance, await loadCaptures(client, slug, found)), undefined, 2))
    return lastEventId
  }
  for (const request of found) print(context, request)
  if (found.length === 0 && context.flags.follow !== true && !context.is_json) context.terminal.out('No requests.')
  return lastEventId
}

/** Headers and bodies of the newest captured requests, by their IDs. */
async function loadCaptures(client: ApiClient, slug: string, found: readonly LoggedRequest[]): Promise<Map<string, CapturedExchange>> {
  const captures = new Map<string, CapturedExchange>()
  for (const { id } of found.filter(({ is_captured }) => is_captured).slice(-limits.request_capture.exported)) {
    const { captured } = await client.call('getCapturedRequest', { params: { slug, id } })
    if (captured) captures.set(id, captured)
  }
  return captures
}

function readLimit({ flags }: CommandContext): number {
  const text = stringFlag(flags, 'limit') ?? String(flags.follow === true ? 0 : flags.har === true ? maxLimit : defaultLimit)
  if (!/^\d+$/.test(text) || Number(text) > maxLimit) throw new UsageError(`--limit must be a whole number up to ${maxLimit}.`)
  return Number(text)
}

async function follow(context: CommandContext, client: ApiClient, slug: string, filters: RequestFilters, last_event_id: string): Promise<void> {
  const { since: _since, until: _until, ...others } = filters
  const query = { ...toQuery(others), last_event_id }
  for await (const { event, data } of client.stream('streamRequests', { params: { slug }, query }, context.signal)) {
    if (event === 'request') print(context, JSON.parse(data) as LoggedRequest)
    else if (event === 'lagged')
      context.terminal.err(`(${(JSON.parse(data) as { dropped: number }).dropped} requests were removed before they could be shown)`)
  }
}

function print({ terminal, is_json }: CommandContext, request: LoggedRequest): void {
  if (is_json) return terminal.out(JSON.stringify(request))
  if (request.skipped_before > 0)
    terminal.err(
      `(${request.skipped_before} requests were not logged, because more than ${limits.request_log.per_second} in a second arrived for long)`,
    )
  const { time, method, status, duration_ms, cache, path, query } = request
  const fields = [time, method.padEnd(6), colorStatus(terminal, status), formatMs(duration_ms).padStart(8), (cache ?? '-').padEnd(6)]
  terminal.out(`${fields.join('  ')}  ${sanitizeLine(terminal, query === null ? path : `${path}?${query}`)}`)
}

function colorStatus(terminal: Terminal, status: number): string {
  return colorize(terminal, status >= 500 ? 'red' : status >= 400 ? 'yellow' : status >= 300 ? 'cyan' : 'green', String(status))
}

const formatMs = (ms: number): string =>
  ms >= 10_000 ? `${Math.round(ms / 1000)} s` : `${ms >= 100 ? Math.round(ms) : Number(ms.toPrecision(2))} ms`

async function show(context: CommandContext, id: string): Promise<number> {
  const response = await context.connect().call('getRequest', { params: { id } })
  if (context.is_json) context.terminal.out(JSON.stringify(response.request))
  else for (const line of describe(context, response)) context.terminal.out(line)
  return exitCodes.success
}

function describe({ terminal }: CommandContext, { request, project }: { request: LoggedRequest; project: string }): string[] {
  const { method, scheme, host, path, query, status, failure, protocol, wake_ms, queue_ms, app_ms, transfer_ms } = request
  const url = `${scheme}://${host}${path}${query === null ? '' : `?${query}`}`
  const rows = [
    ['time', request.time],
    ['project', project],
    ['status', `${status}${failure === null ? '' : ` (${failure})`}`],
    ['duration', formatMs(request.duration_ms)],
    ['  wake', formatMs(wake_ms)],
    ['  queue', queue_ms === null ? '-' : formatMs(queue_ms)],
    ['  app', app_ms === null ? '-' : formatMs(app_ms)],
    ['  transfer', formatMs(transfer_ms)],
    ['body', formatBytes(request.bytes)],
    ['cache', request.cache === null ? '-' : `${request.cache} (${request.cache_status ?? '-'})`],
    ['deployment', request.deployment_id ?? '-'],
    ...(request.replica === null ? [] : [['replica', String(request.replica)] as [string, string]]),
    ['client', request.client_ip],
    ['user agent', request.user_agent ?? '-'],
    ['protocol', protocol],
    ['trace', request.trace_id],
    ['captured', request.is_captured ? 'yes' : 'no'],
  ]
  return [sanitizeLine(terminal, `${method} ${url}`), ...formatTable(terminal, ['id', request.id], rows)]
}
