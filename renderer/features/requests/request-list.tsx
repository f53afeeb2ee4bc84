import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { LoggedRequest } from '../../../server/contract/requests.ts'
import { limits } from '../../../server/contract/limits.ts'
import { formatClockTime, formatDateTime, formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { cacheLabels, statusTone } from './labels.ts'
import styles from './requests.module.css'

export const requestRowHeight = 41

interface Props {
  requests: LoggedRequest[]
  isComplete: boolean
  onSelect: (request: LoggedRequest) => void
  onEndReached: () => void
}

/** A virtualized list of requests, newest first. */
export function RequestList({ requests, isComplete, onSelect, onEndReached }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0))
  const virtualizer = useWindowVirtualizer({
    count: requests.length,
    estimateSize: () => requestRowHeight,
    overscan: 10,
    scrollMargin: top,
    getItemKey: (index) => requests[index]?.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= requests.length - 40) onEndReached()
  }, [last, requests.length, onEndReached])

  return (
    <ul ref={list} className={styles.list} data-rows style={{ height: virtualizer.getTotalSize() }} aria-label="Requests">
      {items.map((item) => {
        const request = requests[item.index]
        if (!request) return null
        return (
          <li
            key={item.key}
            ref={virtualizer.measureElement}
            data-index={item.index}
            aria-setsize={isComplete ? requests.length : -1}
            aria-posinset={item.index + 1}
            style={{ transform: `translateY(${item.start - virtualizer.options.scrollMargin}px)` }}
          >
            <RequestRow request={request} onSelect={onSelect} />
          </li>
        )
      })}
    </ul>
  )
}

function RequestRow({ request, onSelect }: { request: LoggedRequest; onSelect: Props['onSelect'] }) {
  const { time, method, status, path, query, duration_ms, cache, skipped_before } = request
  return (
    <>
      <button type="button" className={styles.row} onClick={() => onSelect(request)}>
        <span className={`text-subtle ${styles.time}`} title={formatDateTime(time)}>
          {formatClockTime(time)}
        </span>
        <span className={`${styles.status} ${styles[`status-${statusTone(status)}`] ?? ''}`}>{status}</span>
        <span className={styles.method}>{sanitizeForDisplay(method)}</span>
        <span className={`mono truncate ${styles.path}`}>
          {sanitizeForDisplay(path)}
          {query !== null && <span className="text-subtle">?{sanitizeForDisplay(query)}</span>}
        </span>
        <span className={`text-muted ${styles.cache}`}>{cache === null ? '' : cacheLabels[cache]}</span>
        <span className={styles.duration}>{formatLatency(duration_ms)}</span>
      </button>
      {skipped_before > 0 && (
        <p className={`text-subtle ${styles.skipped}`}>
          {skipped_before.toLocaleString()} {skipped_before === 1 ? 'request' : 'requests'} not logged: more than{' '}
          {limits.request_log.per_second.toLocaleString()} in a second
        </p>
      )}
    </>
  )
}
