import type { LoggedRequest } from '../../../server/contract/requests.ts'
import { limits } from '../../../server/contract/limits.ts'
import { formatClockTime, formatDateTime, formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { VirtualList } from '../../components/virtual-list.tsx'
import { HttpStatus } from '../../components/http-status.tsx'
import { cacheLabels } from './labels.ts'
import styles from './requests.module.css'

interface Props {
  /** The host of production, which the rows leave out. */
  main_host: string
  requests: LoggedRequest[]
  isComplete: boolean
  onSelect: (request: LoggedRequest) => void
  onEndReached: () => void
}

/** Requests, newest first. */
export function RequestList({ main_host, requests, isComplete, onSelect, onEndReached }: Props) {
  return (
    <VirtualList
      label="Requests"
      items={requests}
      getKey={({ id }) => id}
      renderItem={(request) => <RequestRow main_host={main_host} request={request} onSelect={onSelect} />}
      isComplete={isComplete}
      onEndReached={onEndReached}
    />
  )
}

function RequestRow({ main_host, request, onSelect }: Pick<Props, 'main_host' | 'onSelect'> & { request: LoggedRequest }) {
  const { time, method, host, status, path, query, duration_ms, cache, skipped_before } = request
  return (
    <>
      <button type="button" className={styles.row} onClick={() => onSelect(request)}>
        <span className={`text-subtle ${styles.time}`} title={formatDateTime(time)}>
          {formatClockTime(time)}
        </span>
        <span className={styles.status}>
          <HttpStatus status={status} />
        </span>
        <span className={styles.method}>{sanitizeForDisplay(method)}</span>
        <span className={`mono truncate ${styles.path}`}>
          {sanitizeForDisplay(path)}
          {query !== null && <span className="text-subtle">?{sanitizeForDisplay(query)}</span>}
          {host !== main_host && <span className="text-subtle"> {sanitizeForDisplay(host)}</span>}
        </span>
        <span className={`text-muted ${styles.cache}`}>{cache === null ? '' : cacheLabels[cache]}</span>
        <span className={styles.duration}>{formatLatency(duration_ms)}</span>
      </button>
      {skipped_before > 0 && (
        <p className={`text-subtle ${styles.skipped}`}>
          {skipped_before.toLocaleString()} {skipped_before === 1 ? 'request' : 'requests'} not logged: more than{' '}
          {limits.request_log.per_second.toLocaleString()} in a second for long
        </p>
      )}
    </>
  )
}
