import { type Metrics, metricsRange } from '../contract/metrics.ts'
import type { HistoryRange } from '../contract/metrics-ranges.ts'
import { historyRange, type MetricsHistory } from '../contract/project-metrics.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals } from './command.ts'
import { formatRoutes, readSortFlag, routeSorts } from './routes-table.ts'
import { formatRelativeTime, colorize, formatBytes, formatTable } from './terminal.ts'

const ranges = historyRange.options
const rangeLabels: Record<HistoryRange, string> = {
  live: '15 minutes',
  '1h': 'hour',
  '6h': '6 hours',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
}

export const metrics: CliCommand = {
  summary: 'Shows requests, response times, cold starts and cache usage of a project.',
  usage: ['metrics SLUG [--range live|1h|6h|24h|7d|30d] [--buckets]', 'metrics SLUG --routes [--range 1h] [--sort slowest|requests|errors]'],
  options: {
    range: `=RANGE ${ranges.join(', ')} (default 24h)`,
    buckets: 'list each interval that had requests',
    routes: 'list the routes with their requests, errors and response times',
    sort: `=ORDER ${routeSorts.join(', ')} (default slowest)`,
  },
  async run(context) {
    const [slug = ''] = requirePositionals(context, 'SLUG')
    const range = readRangeFlag(context)
    if (context.flags.routes === true) return showRoutes(context, slug, range)
    const response = await readMetrics(context, slug, range)
    if (context.is_json) {
      context.terminal.out(JSON.stringify(response))
      return exitCodes.success
    }
    context.terminal.out(colorize(context.terminal, 'bold', `${slug}, last ${rangeLabels[range]}`))
    for (const [name, value] of formatFacts(response, context.clock.now())) context.terminal.out(`  ${name.padEnd(15)}${value}`)
    if (context.flags.buckets === true) for (const line of formatBuckets(context, response)) context.terminal.out(line)
    return exitCodes.success
  },
}

/** The ranges of the /v1 API are read from it, so that the response of a script stays the same. */
async function readMetrics(context: CommandContext, slug: string, range: HistoryRange): Promise<Metrics | MetricsHistory> {
  const known = metricsRange.safeParse(range)
  const client = context.connect()
  return known.success
    ? client.call('getMetrics', { params: { slug }, query: { range: known.data } })
    : client.call('getProjectMetrics', { params: { slug }, query: { range } })
}

async function showRoutes(context: CommandContext, slug: string, range: HistoryRange): Promise<number> {
  const sort = readSortFlag(context)
  const response = await context.connect().call('listRoutes', { params: { slug }, query: { range, sort } })
  for (const line of context.is_json ? [JSON.stringify(response)] : formatRoutes(context, response)) context.terminal.out(line)
  return exitCodes.success
}

function readRangeFlag(context: CommandContext): HistoryRange {
  const parsed = historyRange.safeParse(stringFlag(context.flags, 'range') ?? '24h')
  if (!parsed.success) throw new UsageError(`--range must be one of ${ranges.join(', ')}.`)
  return parsed.data
}

function formatFacts({ totals, cold_starts, cache, resources, buckets }: Metrics | MetricsHistory, now: number): [string, string][] {
  const lookups = cache.hits + cache.misses + cache.bypass
  return [
    [
      'requests',
      totals.requests === 0
        ? 'none'
        : `${formatCount(totals.requests)}, ${formatPercent(totals.error_rate)} failed, ${formatBytes(totals.bytes_out)} sent`,
    ],
    ...(totals.requests === 0 ? [] : ([['', renderSparkline(buckets.map((bucket) => bucket.requests))]] satisfies [string, string][])),
    ['response time', `p50 ${formatDuration(totals.p50_ms)}, p95 ${formatDuration(totals.p95_ms)}, p99 ${formatDuration(totals.p99_ms)}`],
    [
      'cold starts',
      cold_starts.last_at === null
        ? 'none'
        : `${formatCount(cold_starts.count)}, p50 ${formatDuration(cold_starts.p50_ms)}, p95 ${formatDuration(cold_starts.p95_ms)}, last ${formatRelativeTime(cold_starts.last_at, now)}`,
    ],
    [
      'cache',
      lookups === 0
        ? 'not used'
        : `${formatCount(cache.hits)} hits, ${formatCount(cache.misses)} misses, ${formatCount(cache.bypass)} bypassed${cache.hit_ratio === null ? '' : `, ${formatPercent(cache.hit_ratio)} hit rate`}`,
    ],
    ['stored', `${formatCount(cache.objects)} ${cache.objects === 1 ? 'response' : 'responses'}, ${formatBytes(cache.bytes)}`],
    [
      'usage now',
      resources === null ? 'not running' : `${resources.cpu_percent} % of one core, ${resources.memory_mb} of ${resources.memory_limit_mb} MB memory`,
    ],
  ]
}

function formatBuckets(context: CommandContext, { buckets }: Pick<Metrics, 'buckets'>): string[] {
  const rows = buckets
    .filter((bucket) => bucket.requests > 0 || bucket.cold_starts > 0)
    .map((one) => [
      one.ts,
      ...[one.requests, one.status_2xx, one.status_3xx, one.status_4xx, one.status_5xx].map(String),
      ...[one.p50_ms, one.p95_ms, one.p99_ms].map(formatDuration),
    ])
  return formatTable(context.terminal, ['FROM', 'REQUESTS', '2XX', '3XX', '4XX', '5XX', 'P50', 'P95', 'P99'], rows)
}

const formatCount = (number: number) => number.toLocaleString('en-US')
const formatPercent = (ratio: number) => `${Number((ratio * 100).toFixed(2))} %`

function formatDuration(ms: number | null): string {
  if (ms === null) return '-'
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`
  return `${Number((ms / 1000).toPrecision(3))} s`
}

const sparklineLevels = ' ▁▂▃▄▅▆▇█'
const sparklineWidth = 48

/** One character per interval, scaled to the maximum. Non-zero counts are always visible. */
function renderSparkline(counts: number[]): string {
  const each = Math.ceil(counts.length / sparklineWidth)
  const parts = Array.from({ length: Math.ceil(counts.length / each) }, (_, i) => counts.slice(i * each, (i + 1) * each).reduce((a, b) => a + b, 0))
  const max = Math.max(1, ...parts)
  return parts.map((part) => sparklineLevels.charAt(Math.ceil((part / max) * (sparklineLevels.length - 1)))).join('')
}
