import { metricsCounters } from '../contract/metrics-ranges.ts'
import { sparklineLimits, type Metrics, type MetricsRange } from '../contract/metrics.ts'
import { metricsBuckets } from '../contract/metrics-ranges.ts'
import { isoTime } from '../lib/clock.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import { listRecentlyRequestedProjects } from '../store/projects.ts'
import type { MetricsRow } from '../store/log-tables.ts'
import { isWithinProject, listCallerAccountIds } from './access.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type MetricsHandlers = Pick<OperationHandlers, 'getMetrics' | 'listSparklines'>

export function createMetricsHandlers(deps: FeatureDeps): MetricsHandlers {
  return {
    async getMetrics({ project }, { query }) {
      const range = query.range ?? '24h'
      const from = rangeStartOf(range, deps.clock.now() / 1000)
      const resources = await deps.deployments.getUsage(project.id)
      const window = { from, ...metricsBuckets[range] }
      return { range, ...summarizeMetrics(window, deps.metrics.readSince(project.id, from), deps.cache.stats(project.id)), resources }
    },

    async listSparklines({ caller }) {
      const hour = metricsBuckets['7d'].seconds
      const from = (Math.floor(deps.clock.now() / 1000 / hour) + 1 - sparklineLimits.hours) * hour
      const recentlyRequested = await deps.store.db.read((tx) =>
        listRecentlyRequestedProjects(tx, listCallerAccountIds(tx, caller), isoTime(from * 1000), sparklineLimits.projects),
      )
      const projects = recentlyRequested
        .filter(({ id }) => isWithinProject(caller, id))
        .map(({ id, slug }) => {
          const requests = Array.from({ length: sparklineLimits.hours }, () => 0)
          for (const row of deps.metrics.readHourlyRequests(id, from)) {
            const index = (row.ts - from) / hour
            if (index in requests) requests[index] = row.requests
          }
          return { slug, requests }
        })
      return { from: isoTime(from * 1000), projects: projects.filter((project) => project.requests.some((count) => count > 0)) }
    },
  }
}

/** Start of the oldest bucket. The newest bucket is still in progress. Buckets start at multiples of their length. */
function rangeStartOf(range: MetricsRange, now_s: number): number {
  const { count, seconds } = metricsBuckets[range]
  return (Math.floor(now_s / seconds) + 1 - count) * seconds
}

/** Buckets from a time on, in seconds. */
export interface BucketWindow {
  from: number
  count: number
  seconds: number
}

/** Builds the response from ordered rows that are as long as a bucket or shorter. */
export function summarizeMetrics(
  { from, count, seconds }: BucketWindow,
  rows: readonly MetricsRow[],
  stored: { objects: number; bytes: number },
): Omit<Metrics, 'range' | 'resources'> {
  const overall = createTotals()
  const sum = createTotals()
  let next = 0
  const buckets = Array.from({ length: count }, (_, index) => {
    const ts = from + index * seconds
    resetTotals(sum)
    for (let row = rows[next]; row !== undefined && row.ts < ts + seconds; row = rows[++next]) addRow(sum, row)
    mergeTotals(overall, sum)
    return { ts: isoTime(ts * 1000), ...countsOf(sum), ...quantilesOf(sum.latencies) }
  })
  const cacheLookups = overall.cache_hits + overall.cache_misses
  return {
    bucket_seconds: seconds,
    from: isoTime(from * 1000),
    to: isoTime((from + count * seconds) * 1000),
    buckets,
    totals: {
      requests: overall.requests,
      errors: overall.status_5xx,
      error_rate: overall.requests === 0 ? 0 : overall.status_5xx / overall.requests,
      bytes_out: overall.bytes_out,
      ...quantilesOf(overall.latencies),
    },
    cold_starts: {
      count: overall.cold_starts,
      p50_ms: quantileOf(overall.cold_latencies, 0.5),
      p95_ms: quantileOf(overall.cold_latencies, 0.95),
      last_at: overall.last_cold_start_at === null ? null : isoTime(overall.last_cold_start_at),
    },
    cache: {
      hits: overall.cache_hits,
      misses: overall.cache_misses,
      bypass: overall.cache_bypass,
      hit_ratio: cacheLookups === 0 ? null : overall.cache_hits / cacheLookups,
      ...stored,
    },
  }
}

type MetricsCounts = Record<(typeof metricsCounters)[number], number>

interface MetricsTotals extends MetricsCounts {
  latencies: Histogram
  cold_latencies: Histogram
  last_cold_start_at: number | null
}

const zeroCounts: MetricsCounts = {
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

const createTotals = (): MetricsTotals => ({
  ...zeroCounts,
  latencies: createHistogram(),
  cold_latencies: createHistogram(),
  last_cold_start_at: null,
})

function resetTotals(sum: MetricsTotals): void {
  Object.assign(sum, zeroCounts)
  sum.latencies.clear()
  sum.cold_latencies.clear()
  sum.last_cold_start_at = null
}

function addRow(sum: MetricsTotals, row: MetricsRow): void {
  addCounts(sum, row)
  sum.latencies.mergeEncoded(row.latencies)
  if (row.cold_latencies) sum.cold_latencies.mergeEncoded(row.cold_latencies)
}

function mergeTotals(overall: MetricsTotals, part: MetricsTotals): void {
  if (part.requests + part.cold_starts + part.bytes_out === 0) return
  addCounts(overall, part)
  overall.latencies.merge(part.latencies)
  overall.cold_latencies.merge(part.cold_latencies)
}

function addCounts(sum: MetricsTotals, more: MetricsCounts & Pick<MetricsTotals, 'last_cold_start_at'>): void {
  for (const name of metricsCounters) sum[name] += more[name]
  if (more.last_cold_start_at !== null) sum.last_cold_start_at = Math.max(sum.last_cold_start_at ?? 0, more.last_cold_start_at)
}

const countsOf = ({ latencies: _latencies, cold_latencies: _cold, last_cold_start_at: _last, ...counts }: MetricsTotals): MetricsCounts => counts

const quantilesOf = (latencies: Histogram) => ({
  p50_ms: quantileOf(latencies, 0.5),
  p95_ms: quantileOf(latencies, 0.95),
  p99_ms: quantileOf(latencies, 0.99),
})

/** Four digits match the precision of the histogram. */
function quantileOf(histogram: Histogram, q: number): number | null {
  const ms = histogram.quantile(q)
  return ms === null ? null : Number(ms.toPrecision(4))
}
