import { useMemo } from 'react'
import type { Metrics } from '../../../server/contract/metrics.ts'
import type { MetricsHistory } from '../../../server/contract/project-metrics.ts'
import { Chart, Legend, type ChartSeries } from '../../components/chart.tsx'
import { formatTimeRange, ticks, timeLabels, integerTicks } from '../../lib/chart-scale.ts'
import { formatLatency, formatPercent } from '../../lib/format.ts'
import { DeploymentMarkers, describeGroup, groupDeployments } from './deployment-markers.tsx'
import { UsageCharts } from './usage-charts.tsx'
import styles from './page.module.css'

type Bucket = Metrics['buckets'][number]
interface SeriesDefinition {
  name: string
  readValue: (bucket: Bucket) => number
  colour: ChartSeries['colour']
  pattern: NonNullable<ChartSeries['pattern']>
}

const statusSeries: readonly SeriesDefinition[] = [
  { name: '2xx', readValue: (bucket) => bucket.status_2xx, colour: 'live', pattern: 'solid' },
  { name: '3xx', readValue: (bucket) => bucket.status_3xx, colour: 'cold', pattern: 'outline' },
  { name: '4xx', readValue: (bucket) => bucket.status_4xx, colour: 'busy', pattern: 'hatch' },
  { name: '5xx', readValue: (bucket) => bucket.status_5xx, colour: 'fail', pattern: 'cross' },
]
/** WebSocket upgrades count as requests outside of these status classes. */
const webSocketSeries: SeriesDefinition = {
  name: 'WebSockets',
  readValue: (bucket) => bucket.requests - statusSeries.reduce((sum, layer) => sum + layer.readValue(bucket), 0),
  colour: 'idle',
  pattern: 'dots',
}
const cacheSeries: readonly SeriesDefinition[] = [
  { name: 'Hits', readValue: (bucket) => bucket.cache_hits, colour: 'live', pattern: 'solid' },
  { name: 'Misses', readValue: (bucket) => bucket.cache_misses, colour: 'busy', pattern: 'hatch' },
  { name: 'Bypass', readValue: (bucket) => bucket.cache_bypass, colour: 'idle', pattern: 'dots' },
]
const coldStartSeries: readonly SeriesDefinition[] = [
  { name: 'Cold starts', readValue: (bucket) => bucket.cold_starts, colour: 'cold', pattern: 'solid' },
]
const percentileSeries = [
  { name: 'p50', field: 'p50_ms', colour: 'accent', line: 'plain' },
  { name: 'p95', field: 'p95_ms', colour: 'ink', line: 'dashed' },
  { name: 'p99', field: 'p99_ms', colour: 'fail', line: 'dotted' },
] as const

export function Charts({
  slug,
  metrics,
  cursor,
  onCursorChange,
  onSelectTime,
}: {
  slug: string
  metrics: MetricsHistory
  cursor: number | null
  onCursorChange: (cursor: number | null) => void
  /** Shows the requests of a bucket; undefined on an instance without a request log. */
  onSelectTime: ((since: string, until: string) => void) | undefined
}) {
  const { buckets, bucket_seconds, totals, cache, cold_starts } = metrics
  const chartData = useMemo(() => {
    const starts = buckets.map(({ ts }) => ts)
    const latency = percentileSeries.map(({ field, ...series }) => ({ ...series, values: buckets.map((bucket) => bucket[field]) }))
    return {
      times: starts.map((start) => formatTimeRange(start, bucket_seconds)),
      wide: timeLabels(starts, bucket_seconds, 10),
      narrow: timeLabels(starts, bucket_seconds, 5),
      status: stackSeries(
        buckets.some((bucket) => webSocketSeries.readValue(bucket) > 0) ? [...statusSeries, webSocketSeries] : statusSeries,
        buckets,
      ),
      cache: stackSeries(cacheSeries, buckets),
      cold: stackSeries(coldStartSeries, buckets),
      latency: { series: latency, ticks: ticks(Math.max(1, ...latency.flatMap(({ values }) => values.map((value) => value ?? 0)))) },
    }
  }, [buckets, bucket_seconds])
  const { groups, events } = useDeploymentEvents(metrics)
  const narrow = { times: chartData.times, timeLabels: chartData.narrow, cursor, onCursorChange, events }
  // On a phone all charts have one width.
  const wide = { ...narrow, timeLabels: window.innerWidth < 700 ? chartData.narrow : chartData.wide }
  const count = (value: number | null) => (value ?? 0).toLocaleString()
  const select =
    onSelectTime &&
    ((index: number) => {
      const start = Date.parse(buckets[index]?.ts ?? '')
      if (!Number.isNaN(start)) onSelectTime(new Date(start).toISOString(), new Date(start + bucket_seconds * 1000).toISOString())
    })

  return (
    <div className={styles.metricsCharts}>
      <section className={`card ${styles.metricsChart} ${styles.metricsWide}`} aria-labelledby="chart-requests">
        <header>
          <h2 id="chart-requests">Requests</h2>
          <Legend series={chartData.status.series} totals={chartData.status.totals.map(count)} />
        </header>
        <Chart label="Requests by status" kind="bars" {...chartData.status} formatValue={count} {...wide} {...(select && { onSelect: select })} />
        <DeploymentMarkers slug={slug} groups={groups} count={buckets.length} />
      </section>
      <section className={`card ${styles.metricsChart} ${styles.metricsWide}`} aria-labelledby="chart-latency">
        <header>
          <h2 id="chart-latency">Response time</h2>
          <Legend series={chartData.latency.series} totals={[totals.p50_ms, totals.p95_ms, totals.p99_ms].map(formatLatency)} />
        </header>
        <Chart label="Response time" kind="lines" {...chartData.latency} formatValue={formatLatency} formatTick={formatLatency} {...wide} />
      </section>
      <UsageCharts metrics={metrics} cursor={cursor} onCursorChange={onCursorChange} events={events} />
      <section className={`card ${styles.metricsChart}`} aria-labelledby="chart-cache">
        <header>
          <h2 id="chart-cache">Edge cache{cache.hit_ratio !== null && `, ${formatPercent(cache.hit_ratio)}`}</h2>
          <Legend series={chartData.cache.series} totals={chartData.cache.totals.map(count)} />
        </header>
        <Chart label="Cache results" kind="bars" {...chartData.cache} formatValue={count} height={150} {...narrow} />
      </section>
      <section className={`card ${styles.metricsChart}`} aria-labelledby="chart-cold">
        <header>
          <h2 id="chart-cold">Cold starts</h2>
          <Legend series={chartData.cold.series} totals={chartData.cold.totals.map(count)}>
            {cold_starts.count > 0 && (
              <span>
                p50 <strong>{formatLatency(cold_starts.p50_ms)}</strong>, p95 <strong>{formatLatency(cold_starts.p95_ms)}</strong>
              </span>
            )}
          </Legend>
        </header>
        <Chart label="Cold starts" kind="bars" {...chartData.cold} formatValue={count} height={150} {...narrow} />
      </section>
    </div>
  )
}

/** CPU and memory of a project without requests. */
export function UsageOnly({
  metrics,
  ...chart
}: {
  metrics: MetricsHistory
  cursor: number | null
  onCursorChange: (cursor: number | null) => void
}) {
  const { events } = useDeploymentEvents(metrics)
  if (metrics.usage.length === 0) return null
  return (
    <div className={styles.metricsCharts}>
      <UsageCharts metrics={metrics} {...chart} events={events} />
    </div>
  )
}

function useDeploymentEvents(metrics: MetricsHistory) {
  return useMemo(() => {
    const groups = groupDeployments(metrics)
    return { groups, events: new Map(groups.map((group) => [group.index, describeGroup(group)])) }
  }, [metrics])
}

function stackSeries(layers: readonly SeriesDefinition[], buckets: readonly Bucket[]) {
  const series = layers.map(({ readValue, ...layer }) => ({ ...layer, values: buckets.map(readValue) }))
  const highest = Math.max(0, ...buckets.map((bucket) => layers.reduce((sum, { readValue }) => sum + readValue(bucket), 0)))
  return { series, ticks: integerTicks(highest), totals: series.map(({ values }) => values.reduce((sum, value) => sum + value, 0)) }
}
