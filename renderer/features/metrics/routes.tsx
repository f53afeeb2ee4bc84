import { useState } from 'react'
import { Link } from 'wouter'
import type { HistoryRange } from '../../../server/contract/metrics-ranges.ts'
import type { RouteMetrics, RouteSort } from '../../../server/contract/project-metrics.ts'
import { useRoutes } from '../../api/metrics.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SegmentedControl } from '../../components/segmented-control.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatBytes, formatDateTime, formatLatency, formatPercent } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './page.module.css'

const sorts = [
  { value: 'slowest', text: 'Slowest' },
  { value: 'requests', text: 'Most requests' },
  { value: 'errors', text: 'Most errors' },
] as const satisfies readonly { value: RouteSort; text: string }[]

/** Routes that are shown at first. */
const shortLength = 10

/** Figures per route. Each row leads to its requests. */
export function Routes({ slug, range }: { slug: string; range: HistoryRange }) {
  const [sort, setSort] = useState<RouteSort>('slowest')
  const [isLong, setLong] = useState(false)
  const { data, error, refetch } = useRoutes(slug, range, sort)
  if (data?.routes.length === 0) return null
  const shown = isLong ? data?.routes : data?.routes.slice(0, shortLength)
  return (
    <section className="card" aria-labelledby="routes">
      <header className={`card-header ${styles.routesHead}`}>
        <h2 id="routes">Routes</h2>
        <SegmentedControl label="Sort routes" value={sort} choices={sorts} onChange={setSort} />
      </header>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={5} height={36} />}
      {data && (
        <>
          <div className={styles.table} tabIndex={0} role="region" aria-label="Routes as a table">
            <table>
              <thead>
                <tr>
                  {['Route', 'Requests', 'Errors', 'p50', 'p95', 'p99', 'Sent'].map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {shown?.map((route) => (
                  <RouteRow key={`${route.method} ${route.route}`} route={route} href={requestsHref(slug, route, data.from)} />
                ))}
                {data.other && (isLong || data.routes.length <= shortLength) && (
                  <tr>
                    <th scope="row">Other routes</th>
                    <RouteCells route={data.other} />
                  </tr>
                )}
              </tbody>
            </table>
          </div>
          <footer className={styles.routesFoot}>
            <p className="text-subtle">
              From the request log since {formatDateTime(data.from)}
              {data.skipped > 0 && `; ${data.skipped.toLocaleString()} requests were too many in a second to be logged`}.
            </p>
            {!isLong && data.routes.length > shortLength && <Button onClick={() => setLong(true)}>Show all {data.routes.length} routes</Button>}
          </footer>
        </>
      )}
    </section>
  )
}

function RouteRow({ route, href }: { route: RouteMetrics; href: string }) {
  return (
    <tr>
      <th scope="row">
        <Link href={href} className={styles.route}>
          <span className="text-subtle">{route.method}</span> <code>{sanitizeForDisplay(route.route)}</code>
        </Link>
      </th>
      <RouteCells route={route} />
    </tr>
  )
}

function RouteCells({ route }: { route: Omit<RouteMetrics, 'method' | 'route'> }) {
  return (
    <>
      <td>{route.requests.toLocaleString()}</td>
      <td data-failed={route.errors > 0 || undefined}>
        {route.errors === 0 ? '0' : `${route.errors.toLocaleString()} (${formatPercent(route.error_rate)})`}
      </td>
      <td>{formatLatency(route.p50_ms)}</td>
      <td>{formatLatency(route.p95_ms)}</td>
      <td>{formatLatency(route.p99_ms)}</td>
      <td>{formatBytes(route.bytes)}</td>
    </>
  )
}

function requestsHref(slug: string, { method, route }: RouteMetrics, since: string): string {
  return `/projects/${slug}/logs/requests?${new URLSearchParams({ method, route, since })}`
}
