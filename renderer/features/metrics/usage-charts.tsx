import { useState } from 'react'
import type { MetricsHistory, UsageSeries } from '../../../server/contract/project-metrics.ts'
import { Chart, Legend, type ChartSeries } from '../../components/chart.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
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

interface NamedSeries extends UsageSeries {
  name: string
}

const nameOf = (service: string | null): string => service ?? 'App'

/** CPU and memory of the app and its services, or of the replicas of one of them. */
export function UsageCharts({ metrics, ...cursor }: Props) {
  const { usage, resources } = metrics
  const [selected, setSelected] = useState('')
  if (usage.length === 0) return null
  const replicated = usage.filter(({ replicas }) => replicas.length > 0)
  const shown = replicated.find(({ service }) => nameOf(service) === selected)
  const series: NamedSeries[] = shown
    ? shown.replicas.map(({ replica, ...one }) => ({ name: `Replica ${replica}`, ...one }))
    : usage.map(({ service, ...one }) => ({ name: nameOf(service), ...one }))
  const memoryLimit = resources?.memory_limit_mb
  return (
    <>
      {replicated.length > 0 && (
        <div className={styles.usageSelect}>
          <FilterSelect
            label="CPU and memory of"
            all="CPU and memory of all services"
            value={selected}
            choices={Object.fromEntries(replicated.map(({ service }) => [nameOf(service), `Replicas of ${service ?? 'the app'}`]))}
            onChange={setSelected}
          />
        </div>
      )}
      <UsageChart
        {...cursor}
        metrics={metrics}
        id="chart-cpu"
        title="CPU"
        hint="percent of one core"
        series={series.map(({ name, cpu_percent }) => ({ name, values: cpu_percent }))}
        formatValue={formatCpu}
      />
      <UsageChart
        {...cursor}
        metrics={metrics}
        id="chart-memory"
        title="Memory"
        hint={memoryLimit === undefined || shown ? undefined : `limit ${memoryLimit} MB`}
        series={series.map(({ name, memory_mb }) => ({ name, values: memory_mb }))}
        formatValue={formatMemory}
      />
    </>
  )
}

function UsageChart({
  metrics: { buckets, bucket_seconds },
  id,
  title,
  hint,
  series: named,
  formatValue,
  ...chart
}: Props & {
  id: string
  title: string
  hint: string | undefined
  series: Pick<ChartSeries, 'name' | 'values'>[]
  formatValue: (value: number | null) => string
}) {
  const starts = buckets.map(({ ts }) => ts)
  const series = named.map((one, index) => ({
    ...one,
    ...(styleOfService[index % styleOfService.length] ?? styleOfService[0]),
  }))
  const last = series.map((one) => formatValue(one.values.findLast((value) => value !== null) ?? null))
  const highest = Math.max(1, ...named.flatMap(({ values }) => values.map((value) => value ?? 0)))
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
