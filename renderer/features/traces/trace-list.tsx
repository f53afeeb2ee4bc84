import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { TraceSummary } from '../../../server/contract/traces.ts'
import { formatClockTime, formatDateTime, formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { statusTone } from '../requests/index.ts'
import styles from './traces.module.css'

export const traceRowHeight = 41

interface Props {
  slug: string
  traces: TraceSummary[]
  isComplete: boolean
  onEndReached: () => void
}

/** A virtualized list of traces, newest first. */
export function TraceList({ slug, traces, isComplete, onEndReached }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0))
  const virtualizer = useWindowVirtualizer({
    count: traces.length,
    estimateSize: () => traceRowHeight,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => traces[index]?.trace_id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= traces.length - 40) onEndReached()
  }, [last, traces.length, onEndReached])

  return (
    <ul ref={list} className={styles.list} data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Traces">
      {items.map((item) => {
        const trace = traces[item.index]
        if (!trace) return null
        return (
          <li
            key={item.key}
            ref={virtualizer.measureElement}
            data-index={item.index}
            aria-setsize={isComplete ? traces.length : -1}
            aria-posinset={item.index + 1}
            style={{ transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
          >
            <TraceRow slug={slug} trace={trace} />
          </li>
        )
      })}
    </ul>
  )
}

function TraceRow({ slug, trace }: { slug: string; trace: TraceSummary }) {
  const { trace_id, start_time, status, method, route, name, service, spans, errors, duration_ms, branch } = trace
  return (
    <Link href={`/projects/${slug}/logs/traces/${trace_id}`} className={styles.row}>
      <span className={`text-subtle ${styles.time}`} title={formatDateTime(start_time)}>
        {formatClockTime(start_time)}
      </span>
      <span className={`${styles.status} ${status === null ? '' : (styles[`status-${statusTone(status)}`] ?? '')}`}>{status ?? ''}</span>
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
