import type { ReactNode } from 'react'
import type { Metrics } from '../../../server/contract/metrics.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { compact } from '../../ui/chart-scale.ts'
import { bytes, milliseconds, percent } from '../../ui/format.ts'
import { Ago } from '../../ui/time.tsx'

/** The range in a few numbers. */
export function Figures({ metrics, project }: { metrics: Metrics; project: Project | undefined }) {
  const { totals, cache, cold_starts, resources } = metrics
  return (
    <dl className="card figures" aria-label="Figures">
      <Figure name="Requests" value={<span title={totals.requests.toLocaleString()}>{compact(totals.requests)}</span>}>
        {bytes(totals.bytes_out)} sent
      </Figure>
      <Figure name="Errors" value={percent(totals.error_rate)}>
        {counted(totals.errors, 'server error', 'server errors')} (5xx)
      </Figure>
      <Figure name="Median answer" value={milliseconds(totals.p50_ms)}>
        <span className="nowrap">p95 {milliseconds(totals.p95_ms)},</span> <span className="nowrap">p99 {milliseconds(totals.p99_ms)}</span>
      </Figure>
      <Figure name="From the cache" value={cache.hit_ratio === null ? 'None' : percent(cache.hit_ratio)}>
        {counted(cache.hits, 'hit', 'hits')}, {counted(cache.misses, 'miss', 'misses')}
      </Figure>
      <Figure name="Cold starts" value={cold_starts.count.toLocaleString()}>
        {cold_starts.last_at === null ? (
          'It was never woken'
        ) : (
          <>
            {milliseconds(cold_starts.p50_ms)}, the last <Ago at={cold_starts.last_at} />
          </>
        )}
      </Figure>
      <Figure name="Right now" value={resources ? `${Math.round(resources.memory_mb)} MB` : 'Nothing runs'}>
        {resources
          ? `of ${resources.memory_limit_mb} MB; ${resources.cpu_percent.toFixed(resources.cpu_percent < 10 ? 1 : 0)} % of a core`
          : project?.is_cold
            ? 'Asleep; the next request wakes it'
            : 'It is stopped, or its files need no process'}
      </Figure>
    </dl>
  )
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}

function Figure({ name, value, children }: { name: string; value: ReactNode; children: ReactNode }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd>{children}</dd>
    </div>
  )
}
