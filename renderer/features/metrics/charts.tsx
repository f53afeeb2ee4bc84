import { useMemo } from 'react'
import type { Metrics } from '../../../server/contract/metrics.ts'
import { Chart, Legend, type Series } from '../../ui/chart.tsx'
import { span, ticks, timeMarks, wholeTicks } from '../../ui/chart-scale.ts'
import { milliseconds, percent } from '../../ui/format.ts'

type Bucket = Metrics['buckets'][number]
interface Layer {
  name: string
  of: (bucket: Bucket) => number
  colour: Series['colour']
  pattern: NonNullable<Series['pattern']>
}

const byStatus: readonly Layer[] = [
  { name: '2xx', of: (bucket) => bucket.status_2xx, colour: 'live', pattern: 'solid' },
  { name: '3xx', of: (bucket) => bucket.status_3xx, colour: 'cold', pattern: 'outline' },
  { name: '4xx', of: (bucket) => bucket.status_4xx, colour: 'busy', pattern: 'hatch' },
  { name: '5xx', of: (bucket) => bucket.status_5xx, colour: 'fail', pattern: 'cross' },
]
/** What became a WebSocket is a request too, of none of these classes. */
const sockets: Layer = {
  name: 'WebSockets',
  of: (bucket) => bucket.requests - byStatus.reduce((sum, layer) => sum + layer.of(bucket), 0),
  colour: 'idle',
  pattern: 'dots',
}
const byCache: readonly Layer[] = [
  { name: 'Hits', of: (bucket) => bucket.cache_hits, colour: 'live', pattern: 'solid' },
  { name: 'Misses', of: (bucket) => bucket.cache_misses, colour: 'busy', pattern: 'hatch' },
  { name: 'Bypass', of: (bucket) => bucket.cache_bypass, colour: 'idle', pattern: 'dots' },
]
const byColdStart: readonly Layer[] = [{ name: 'Cold starts', of: (bucket) => bucket.cold_starts, colour: 'cold', pattern: 'solid' }]
const percentiles = [
  { name: 'p50', field: 'p50_ms', colour: 'accent', line: 'plain' },
  { name: 'p95', field: 'p95_ms', colour: 'ink', line: 'dashed' },
  { name: 'p99', field: 'p99_ms', colour: 'fail', line: 'dotted' },
] as const

export function Charts({ metrics, at, onAt }: { metrics: Metrics; at: number | null; onAt: (at: number | null) => void }) {
  const { buckets, bucket_seconds, totals, cache, cold_starts } = metrics
  const drawn = useMemo(() => {
    const starts = buckets.map(({ ts }) => ts)
    const latency = percentiles.map(({ field, ...series }) => ({ ...series, values: buckets.map((bucket) => bucket[field]) }))
    return {
      times: starts.map((start) => span(start, bucket_seconds)),
      wide: timeMarks(starts, bucket_seconds, 10),
      narrow: timeMarks(starts, bucket_seconds, 5),
      status: stacked(buckets.some((bucket) => sockets.of(bucket) > 0) ? [...byStatus, sockets] : byStatus, buckets),
      cache: stacked(byCache, buckets),
      cold: stacked(byColdStart, buckets),
      latency: { series: latency, ticks: ticks(Math.max(1, ...latency.flatMap(({ values }) => values.map((value) => value ?? 0)))) },
    }
  }, [buckets, bucket_seconds])
  const narrow = { times: drawn.times, marks: drawn.narrow, at, onAt }
  // On a phone every chart is a narrow one.
  const wide = { ...narrow, marks: window.innerWidth < 700 ? drawn.narrow : drawn.wide }
  const count = (value: number | null) => (value ?? 0).toLocaleString()

  return (
    <div className="metrics-charts">
      <section className="card metrics-chart metrics-wide" aria-labelledby="chart-requests">
        <header>
          <h2 id="chart-requests">Requests</h2>
          <Legend series={drawn.status.series} totals={drawn.status.totals.map(count)} />
        </header>
        <Chart label="Requests by status" kind="bars" {...drawn.status} word={count} {...wide} />
      </section>
      <section className="card metrics-chart metrics-wide" aria-labelledby="chart-latency">
        <header>
          <h2 id="chart-latency">Response time</h2>
          <Legend series={drawn.latency.series} totals={[totals.p50_ms, totals.p95_ms, totals.p99_ms].map(milliseconds)} />
        </header>
        <Chart label="Response time" kind="lines" {...drawn.latency} word={milliseconds} tickWord={milliseconds} {...wide} />
      </section>
      <section className="card metrics-chart" aria-labelledby="chart-cache">
        <header>
          <h2 id="chart-cache">Edge cache{cache.hit_ratio !== null && `, ${percent(cache.hit_ratio)}`}</h2>
          <Legend series={drawn.cache.series} totals={drawn.cache.totals.map(count)} />
        </header>
        <Chart label="What the cache did" kind="bars" {...drawn.cache} word={count} height={150} {...narrow} />
      </section>
      <section className="card metrics-chart" aria-labelledby="chart-cold">
        <header>
          <h2 id="chart-cold">Cold starts</h2>
          <div className="chart-legend">
            <Legend series={drawn.cold.series} totals={drawn.cold.totals.map(count)} />
            {cold_starts.count > 0 && (
              <span>
                p50 <strong>{milliseconds(cold_starts.p50_ms)}</strong>, p95 <strong>{milliseconds(cold_starts.p95_ms)}</strong>
              </span>
            )}
          </div>
        </header>
        <Chart label="Cold starts" kind="bars" {...drawn.cold} word={count} height={150} {...narrow} />
      </section>
    </div>
  )
}

function stacked(layers: readonly Layer[], buckets: readonly Bucket[]) {
  const series = layers.map(({ of, ...layer }) => ({ ...layer, values: buckets.map(of) }))
  const highest = Math.max(0, ...buckets.map((bucket) => layers.reduce((sum, { of }) => sum + of(bucket), 0)))
  return { series, ticks: wholeTicks(highest), totals: series.map(({ values }) => values.reduce((sum, value) => sum + value, 0)) }
}
