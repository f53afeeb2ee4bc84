import { Link } from 'wouter'
import { useMetrics } from '../../api/queries.ts'
import { compact } from '../../ui/chart-scale.ts'
import { Skeleton } from '../../ui/feedback.tsx'
import { milliseconds, percent } from '../../ui/format.ts'

/** A day of the project in four numbers, and the way to the rest. */
export function Traffic({ slug }: { slug: string }) {
  const { data, error } = useMetrics(slug, '24h')
  if (error) return null
  const figures = [
    ['Requests', data && compact(data.totals.requests)],
    ['Errors', data && percent(data.totals.error_rate)],
    ['Median answer', data && milliseconds(data.totals.p50_ms)],
    ['From the cache', data && (data.cache.hit_ratio === null ? 'None' : percent(data.cache.hit_ratio))],
    ['Memory now', data && (data.resources ? `${Math.round(data.resources.memory_mb)} MB` : 'None')],
  ] as const
  return (
    <section className="card" aria-labelledby="traffic">
      <header className="card-head">
        <h2 id="traffic">Last 24 hours</h2>
        <Link href={`/projects/${slug}/metrics`}>Metrics</Link>
      </header>
      <dl className="traffic">
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
