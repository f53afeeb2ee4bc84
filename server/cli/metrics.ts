import { type Metrics, metricsRange } from '../contract/metrics.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { ago, paint, sizeOf, table } from './terminal.ts'

const ranges = metricsRange.options

export const metrics: Command = {
  summary: 'Shows requests, durations, cold starts and cache of a project.',
  forms: ['metrics SLUG [--range 24h|7d|30d] [--buckets]'],
  options: {
    range: `=RANGE ${ranges.join(', ')} (default 24h)`,
    buckets: 'list every part of the range that had requests',
  },
  async run(call) {
    const [slug = ''] = words(call, 'SLUG')
    const range = rangeOf(call)
    const answer = await call.connect().call('getMetrics', { params: { slug }, query: { range } })
    if (call.json) {
      call.terminal.out(JSON.stringify(answer))
      return exitCodes.done
    }
    call.terminal.out(paint(call.terminal, 'bold', `${slug}, last ${{ '24h': '24 hours', '7d': '7 days', '30d': '30 days' }[range]}`))
    for (const [name, value] of factsOf(answer, call.clock.now())) call.terminal.out(`  ${name.padEnd(14)}${value}`)
    if (call.flags.buckets === true) for (const line of bucketsOf(call, answer)) call.terminal.out(line)
    return exitCodes.done
  },
}

function rangeOf(call: Call): Metrics['range'] {
  const found = metricsRange.safeParse(text(call.flags, 'range') ?? '24h')
  if (!found.success) throw new UsageError(`--range is none of ${ranges.join(', ')}.`)
  return found.data
}

function factsOf({ totals, cold_starts, cache, resources, buckets }: Metrics, now: number): [string, string][] {
  const served = cache.hits + cache.misses + cache.bypass
  return [
    [
      'requests',
      totals.requests === 0 ? 'none' : `${count(totals.requests)}, ${percent(totals.error_rate)} failed, ${sizeOf(totals.bytes_out)} sent`,
    ],
    ...(totals.requests === 0 ? [] : ([['', graph(buckets.map((bucket) => bucket.requests))]] satisfies [string, string][])),
    ['durations', `p50 ${duration(totals.p50_ms)}, p95 ${duration(totals.p95_ms)}, p99 ${duration(totals.p99_ms)}`],
    [
      'cold starts',
      cold_starts.last_at === null
        ? 'none'
        : `${count(cold_starts.count)}, p50 ${duration(cold_starts.p50_ms)}, p95 ${duration(cold_starts.p95_ms)}, the last ${ago(cold_starts.last_at, now)}`,
    ],
    [
      'cache',
      served === 0
        ? 'not asked'
        : `${count(cache.hits)} hits, ${count(cache.misses)} misses, ${count(cache.bypass)} passed by${cache.hit_ratio === null ? '' : `, ${percent(cache.hit_ratio)} hit`}`,
    ],
    ['stored', `${count(cache.objects)} ${cache.objects === 1 ? 'answer' : 'answers'}, ${sizeOf(cache.bytes)}`],
    [
      'uses now',
      resources === null
        ? 'nothing runs'
        : `${resources.cpu_percent} % of one core, ${resources.memory_mb} of ${resources.memory_limit_mb} MB memory`,
    ],
  ]
}

function bucketsOf(call: Call, { buckets }: Metrics): string[] {
  const rows = buckets
    .filter((bucket) => bucket.requests > 0 || bucket.cold_starts > 0)
    .map((one) => [
      one.ts,
      ...[one.requests, one.status_2xx, one.status_3xx, one.status_4xx, one.status_5xx].map(String),
      ...[one.p50_ms, one.p95_ms, one.p99_ms].map(duration),
    ])
  return table(call.terminal, ['FROM', 'REQUESTS', '2XX', '3XX', '4XX', '5XX', 'P50', 'P95', 'P99'], rows)
}

const count = (number: number) => number.toLocaleString('en-US')
const percent = (ratio: number) => `${Number((ratio * 100).toFixed(2))} %`

function duration(ms: number | null): string {
  if (ms === null) return '-'
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`
  return `${Number((ms / 1000).toPrecision(3))} s`
}

const bars = ' ▁▂▃▄▅▆▇█'
const graphWidth = 48

/** Heights of the parts of a range against its highest; what is not zero shows. */
function graph(counts: number[]): string {
  const each = Math.ceil(counts.length / graphWidth)
  const parts = Array.from({ length: Math.ceil(counts.length / each) }, (_, i) => counts.slice(i * each, (i + 1) * each).reduce((a, b) => a + b, 0))
  const most = Math.max(1, ...parts)
  return parts.map((part) => bars.charAt(Math.ceil((part / most) * (bars.length - 1)))).join('')
}
