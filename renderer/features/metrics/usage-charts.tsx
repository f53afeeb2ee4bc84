import type { MetricsHistory } from '../../../server/contract/project-metrics.ts'
import { Chart, Legend, type ChartSeries } from '../../components/chart.tsx'
import { formatTimeRange, ticks, timeLabels } from '../../lib/chart-scale.ts'
import styles from './page.module.css'

interface Props {
  metrics: MetricsHistory
  cursor: number | null
  onCursorChange: (cursor: number | null) => void
  events: ReadonlyMap<number, string>
}

const styleOfService = [
  { colour: 'accent', line: 'plain' },
  { colour: 'ink', line: 'dashed' },
  { colour: 'live', line: 'dotted' },
  { colour: 'busy', line: 'plain' },
  { colour: 'cold', line: 'dashed' },
  { colour: 'idle', line: 'dotted' },
] as const satisfies readonly Pick<ChartSeries, 'colour' | 'line'>[]

/** CPU and memory of the app and its services. */
export function UsageCharts({ metrics, ...cursor }: Props) {
  const { usage, resources } = metrics
  if (usage.length === 0) return null
  const memoryLimit = resources?.memory_limit_mb
  return (
    <>
      <UsageChart
        {...cursor}
        metrics={metrics}
        id="chart-cpu"
        title="CPU"
        hint="percent of one core"
        series={usage.map(({ cpu_percent }) => cpu_percent)}
        formatValue={formatCpu}
      />
      <UsageChart
        {...cursor}
        metrics={metrics}
        id="chart-memory"
        title="Memory"
        hint={memoryLimit === undefined ? undefined : `limit ${memoryLimit} MB`}
        series={usage.map(({ memory_mb }) => memory_mb)}
        formatValue={formatMemory}
      />
    </>
  )
}

function UsageChart({
  metrics: { usage, buckets, bucket_seconds },
  id,
  title,
  hint,
  series: values,
  formatValue,
  ...chart
}: Props & {
  id: string
  title: string
  hint: string | undefined
  series: (number | null)[][]
  formatValue: (value: number | null) => string
}) {
  const starts = buckets.map(({ ts }) => ts)
  const series = values.map((one, index) => ({
    name: usage[index]?.service ?? 'App',
    values: one,
    ...(styleOfService[index % styleOfService.length] ?? styleOfService[0]),
  }))
  const last = series.map((one) => formatValue(one.values.findLast((value) => value !== null) ?? null))
  const highest = Math.max(1, ...values.flat().map((value) => value ?? 0))
  return (
    <section className={`card ${styles.metricsChart}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>
          {title}
          {hint && <span className={`text-subtle ${styles.hint}`}>, {hint}</span>}
        </h2>
        <Legend series={series} totals={last} />
      </header>
      <Chart
        {...chart}
        label={title}
        kind="lines"
        series={series}
        times={starts.map((start) => formatTimeRange(start, bucket_seconds))}
        timeLabels={timeLabels(starts, bucket_seconds, 5)}
        ticks={ticks(highest)}
        formatValue={formatValue}
        height={150}
      />
    </section>
  )
}

const formatCpu = (value: number | null) => (value === null ? '–' : `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`)
const formatMemory = (value: number | null) => (value === null ? '–' : `${Math.round(value)} MB`)
