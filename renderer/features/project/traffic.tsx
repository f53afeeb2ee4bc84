import { Link } from 'wouter'
import { useMetrics } from '../../api/metrics.ts'
import { formatCompact } from '../../lib/chart-scale.ts'
import { Skeleton } from '../../components/feedback.tsx'
import { formatLatency, formatPercent } from '../../lib/format.ts'
import styles from './overview.module.css'

/** Metrics of the last 24 hours, with a link to the metrics page. */
export function Traffic({ slug }: { slug: string }) {
  const { data, error } = useMetrics(slug, '24h')
  if (error) return null
  const figures = [
    ['Requests', data && formatCompact(data.totals.requests)],
    ['Errors', data && formatPercent(data.totals.error_rate)],
    ['Median response', data && formatLatency(data.totals.p50_ms)],
    ['Cache hit rate', data && (data.cache.hit_ratio === null ? 'None' : formatPercent(data.cache.hit_ratio))],
    ['Memory', data && (data.resources ? `${Math.round(data.resources.memory_mb)} MB` : 'None')],
  ] as const
  return (
    <section className="card" aria-labelledby="traffic">
      <header className="card-header">
        <h2 id="traffic">Last 24 hours</h2>
        <Link href={`/projects/${slug}/metrics`}>Metrics</Link>
      </header>
      <dl className={styles.traffic}>
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? <Skeleton width={52} height={18} />}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
