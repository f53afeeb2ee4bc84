import { Link } from 'wouter'
import type { TraceSummary } from '../../../server/contract/traces.ts'
import { formatClockTime, formatDateTime, formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { VirtualList } from '../../components/virtual-list.tsx'
import { HttpStatus } from '../../components/http-status.tsx'
import styles from './traces.module.css'

interface Props {
  slug: string
  traces: TraceSummary[]
  isComplete: boolean
  onEndReached: () => void
}

/** Traces, newest first. */
export function TraceList({ slug, traces, isComplete, onEndReached }: Props) {
  return (
    <VirtualList
      label="Traces"
      items={traces}
      getKey={({ trace_id }) => trace_id}
      renderItem={(trace) => <TraceRow slug={slug} trace={trace} />}
      isComplete={isComplete}
      onEndReached={onEndReached}
    />
  )
}

function TraceRow({ slug, trace }: { slug: string; trace: TraceSummary }) {
  const { trace_id, start_time, status, method, route, name, service, spans, errors, duration_ms, branch } = trace
  return (
    <Link href={`/projects/${slug}/logs/traces/${trace_id}`} className={styles.row}>
      <span className={`text-subtle ${styles.time}`} title={formatDateTime(start_time)}>
        {formatClockTime(start_time)}
      </span>
      <span className={styles.status}>
        <HttpStatus status={status} />
      </span>
      <span className={styles.method}>{sanitizeForDisplay(method ?? '')}</span>
      <span className={`mono truncate ${styles.route}`}>
        {sanitizeForDisplay(route ?? name)}
        {branch !== null && <span className="text-subtle"> {sanitizeForDisplay(branch)}</span>}
      </span>
      <span className={`text-muted truncate ${styles.service}`}>{sanitizeForDisplay(service)}</span>
      <span className={styles.spans}>
        {spans.toLocaleString()} {spans === 1 ? 'span' : 'spans'}
        {errors > 0 && <span className={styles.failed}>, {errors.toLocaleString()} failed</span>}
      </span>
      <span className={styles.duration}>{formatLatency(duration_ms)}</span>
    </Link>
  )
}
