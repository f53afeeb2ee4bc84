import type { Handlers } from '../contract/index.ts'
import { metricsBuckets, metricsCounters, sparklines, type Metrics, type MetricsRange } from '../contract/metrics.ts'
import { isoTime } from '../lib/clock.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import { listLastRequested } from '../store/projects.ts'
import type { MetricsRow } from '../store/tables.ts'
import { accountsOf, projectFor } from './access.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type MetricsHandlers = Pick<Handlers<Context>, 'getMetrics' | 'listSparklines'>

export function createMetricsHandlers(deps: FeatureDeps): MetricsHandlers {
  return {
    async getMetrics({ caller }, { params, query }) {
      const project = await deps.store.db.read((tx) => projectFor(tx, caller, params.slug))
      const range = query.range ?? '24h'
      const from = beginningOf(range, deps.clock.now() / 1000)
      const resources = await deps.engine.usage(project.id)
      return { ...summarize(range, from, deps.metrics.since(project.id, from), deps.cache.stats(project.id)), resources }
    },

    async listSparklines({ caller }) {
      const hour = metricsBuckets['7d'].seconds
      const from = (Math.floor(deps.clock.now() / 1000 / hour) + 1 - sparklines.hours) * hour
      const asked = await deps.store.db.read((tx) => listLastRequested(tx, accountsOf(tx, caller), isoTime(from * 1000), sparklines.projects))
      const projects = asked.map(({ id, slug }) => {
        const requests = Array.from({ length: sparklines.hours }, () => 0)
        for (const row of deps.metrics.hourly(id, from)) {
          const place = (row.ts - from) / hour
          if (place in requests) requests[place] = row.requests
        }
        return { slug, requests }
      })
      return { from: isoTime(from * 1000), projects: projects.filter((project) => project.requests.some((count) => count > 0)) }
    },
  }
}

/** Where the oldest bucket begins, so that the newest is the one that is not over yet. Buckets stand on multiples of their length. */
function beginningOf(range: MetricsRange, now_s: number): number {
  const { count, seconds } = metricsBuckets[range]
  return (Math.floor(now_s / seconds) + 1 - count) * seconds
}

/** The answer of the contract out of rows, in order, that are as long as a bucket or shorter. */
function summarize(
  range: MetricsRange,
  from: number,
  rows: readonly MetricsRow[],
  stored: { objects: number; bytes: number },
): Omit<Metrics, 'resources'> {
  const { count, seconds } = metricsBuckets[range]
  const whole = createSum()
  const sum = createSum()
  let next = 0
  const buckets = Array.from({ length: count }, (_, place) => {
    const ts = from + place * seconds
    clear(sum)
    for (let row = rows[next]; row !== undefined && row.ts < ts + seconds; row = rows[++next]) addRow(sum, row)
    addSum(whole, sum)
    return { ts: isoTime(ts * 1000), ...countsOf(sum), ...quantilesOf(sum.latencies) }
  })
  const looked = whole.cache_hits + whole.cache_misses
  return {
    range,
    bucket_seconds: seconds,
    from: isoTime(from * 1000),
    to: isoTime((from + count * seconds) * 1000),
    buckets,
    totals: {
      requests: whole.requests,
      errors: whole.status_5xx,
      error_rate: whole.requests === 0 ? 0 : whole.status_5xx / whole.requests,
      bytes_out: whole.bytes_out,
      ...quantilesOf(whole.latencies),
    },
    cold_starts: {
      count: whole.cold_starts,
      p50_ms: quantileOf(whole.cold_latencies, 0.5),
      p95_ms: quantileOf(whole.cold_latencies, 0.95),
      last_at: whole.last_cold_start_at === null ? null : isoTime(whole.last_cold_start_at),
    },
    cache: {
      hits: whole.cache_hits,
      misses: whole.cache_misses,
      bypass: whole.cache_bypass,
      hit_ratio: looked === 0 ? null : whole.cache_hits / looked,
      ...stored,
    },
  }
}

type Counts = Record<(typeof metricsCounters)[number], number>

interface Sum extends Counts {
  latencies: Histogram
  cold_latencies: Histogram
  last_cold_start_at: number | null
}

const none: Counts = {
  requests: 0,
  status_2xx: 0,
  status_3xx: 0,
  status_4xx: 0,
  status_5xx: 0,
  bytes_out: 0,
  cold_starts: 0,
  cache_hits: 0,
  cache_misses: 0,
  cache_bypass: 0,
}

const createSum = (): Sum => ({ ...none, latencies: createHistogram(), cold_latencies: createHistogram(), last_cold_start_at: null })

function clear(sum: Sum): void {
  Object.assign(sum, none)
  sum.latencies.clear()
  sum.cold_latencies.clear()
  sum.last_cold_start_at = null
}

function addRow(sum: Sum, row: MetricsRow): void {
  addCounts(sum, row)
  sum.latencies.mergeEncoded(row.latencies)
  if (row.cold_latencies) sum.cold_latencies.mergeEncoded(row.cold_latencies)
}

function addSum(whole: Sum, part: Sum): void {
  if (part.requests + part.cold_starts + part.bytes_out === 0) return
  addCounts(whole, part)
  whole.latencies.merge(part.latencies)
  whole.cold_latencies.merge(part.cold_latencies)
}

function addCounts(sum: Sum, more: Counts & Pick<Sum, 'last_cold_start_at'>): void {
  for (const name of metricsCounters) sum[name] += more[name]
  if (more.last_cold_start_at !== null) sum.last_cold_start_at = Math.max(sum.last_cold_start_at ?? 0, more.last_cold_start_at)
}

const countsOf = ({ latencies: _latencies, cold_latencies: _cold, last_cold_start_at: _last, ...counts }: Sum): Counts => counts

const quantilesOf = (latencies: Histogram) => ({
  p50_ms: quantileOf(latencies, 0.5),
  p95_ms: quantileOf(latencies, 0.95),
  p99_ms: quantileOf(latencies, 0.99),
})

/** Four digits say all that a histogram knows. */
function quantileOf(histogram: Histogram, q: number): number | null {
  const ms = histogram.quantile(q)
  return ms === null ? null : Number(ms.toPrecision(4))
}
