import { Link } from 'wouter'
import type { Metrics } from '../../../server/contract/metrics.ts'
import { useMetrics } from '../../api/metrics.ts'
import { formatCompact } from '../../lib/chart-scale.ts'
import { Skeleton } from '../../components/feedback.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { formatLatency, formatPercent } from '../../lib/format.ts'
import { type HourlyFigures, hourlyFigures } from './hourly-figures.ts'
import styles from './overview.module.css'

/** Above this share of server errors the figure is red. */
const maxErrorRate = 0.05

/** Metrics of the last 24 hours, each with its course by hour, and a link to the metrics page. */
export function Traffic({ slug }: { slug: string }) {
  const { data, error } = useMetrics(slug, '24h')
  if (error) return null
  const hourly = data && hourlyFigures(data.buckets)
  return (
    <section className="card" aria-labelledby="traffic">
      <header className="card-header">
        <h2 id="traffic">Last 24 hours</h2>
        <Link href={`/projects/${slug}/metrics`}>Metrics</Link>
      </header>
      <dl className={styles.traffic}>
        {figures.map(({ name, format, course }) => {
          const isAlarming = name === 'Errors' && data !== undefined && data.totals.error_rate > maxErrorRate
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd className={isAlarming ? styles.trafficAlarming : undefined}>{data ? format(data) : <Skeleton width={52} height={18} />}</dd>
              <dd className={styles.trafficCourse}>
                {hourly && course && <Sparkline values={hourly[course]} label={`${name} by hour`} isAlarming={isAlarming} />}
              </dd>
            </div>
          )
        })}
      </dl>
    </section>
  )
}

const figures: { name: string; format: (metrics: Metrics) => string; course?: keyof HourlyFigures }[] = [
  { name: 'Requests', format: ({ totals }) => formatCompact(totals.requests), course: 'requests' },
  { name: 'Errors', format: ({ totals }) => formatPercent(totals.error_rate), course: 'errors' },
  { name: 'Median response', format: ({ totals }) => formatLatency(totals.p50_ms), course: 'p50_ms' },
  { name: 'Cache hit rate', format: ({ cache }) => (cache.hit_ratio === null ? 'None' : formatPercent(cache.hit_ratio)), course: 'cache_hits' },
  { name: 'Memory', format: ({ resources }) => (resources ? `${Math.round(resources.memory_mb)} MB` : 'None') },
]
