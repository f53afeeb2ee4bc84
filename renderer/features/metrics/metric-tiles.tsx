import type { ReactNode } from 'react'
import type { MetricsHistory } from '../../../server/contract/project-metrics.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { formatCompact } from '../../lib/chart-scale.ts'
import { formatBytes, formatLatency, formatPercent } from '../../lib/format.ts'
import { RelativeTime } from '../../components/time.tsx'
import styles from './page.module.css'

/** Totals of the selected range. */
export function MetricTiles({ metrics, project }: { metrics: MetricsHistory; project: Project | undefined }) {
  const { totals, cache, cold_starts, resources } = metrics
  return (
    <dl className={`card ${styles.figures}`} data-testid="figures" aria-label="Summary">
      <MetricTile name="Requests" value={<span title={totals.requests.toLocaleString()}>{formatCompact(totals.requests)}</span>}>
        {formatBytes(totals.bytes_out)} sent
      </MetricTile>
      <MetricTile name="Errors" value={formatPercent(totals.error_rate)}>
        {countLabel(totals.errors, 'server error', 'server errors')} (5xx)
      </MetricTile>
      <MetricTile name="Median response" value={formatLatency(totals.p50_ms)}>
        <span className="nowrap">p95 {formatLatency(totals.p95_ms)},</span> <span className="nowrap">p99 {formatLatency(totals.p99_ms)}</span>
      </MetricTile>
      <MetricTile name="Cache hit rate" value={cache.hit_ratio === null ? 'None' : formatPercent(cache.hit_ratio)}>
        {countLabel(cache.hits, 'hit', 'hits')}, {countLabel(cache.misses, 'miss', 'misses')}
      </MetricTile>
      <MetricTile name="Cold starts" value={cold_starts.count.toLocaleString()}>
        {cold_starts.last_at === null ? (
          'No cold starts'
        ) : (
          <>
            {formatLatency(cold_starts.p50_ms)}, last <RelativeTime at={cold_starts.last_at} />
          </>
        )}
      </MetricTile>
      <MetricTile name="Right now" value={resources ? `${Math.round(resources.memory_mb)} MB` : 'Not running'}>
        {resources
          ? `of ${resources.memory_limit_mb} MB; ${resources.cpu_percent.toFixed(resources.cpu_percent < 10 ? 1 : 0)} % of one core`
          : project?.is_cold
            ? 'Asleep; the next request wakes it'
            : 'Stopped, or a static site without a process'}
      </MetricTile>
    </dl>
  )
}

function countLabel(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}

function MetricTile({ name, value, children }: { name: string; value: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.figure} data-testid="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd>{children}</dd>
    </div>
  )
}
