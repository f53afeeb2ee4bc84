import type { LogDrain } from '../contract/log-drains.ts'
import type { LogLevel } from '../contract/log-levels.ts'
import { isoTime } from '../lib/clock.ts'
import type { LogOrigin } from '../store/log-drains.ts'
import { levelOfRecord, type LogRecord } from '../store/log-records.ts'
import type { StoredRequest } from '../store/request-store.ts'

/** A line as receivers get it. */
export interface DrainLine {
  /** The same when the line is sent again; null for a line of the drain itself. */
  id: string | null
  timestamp: string
  /** `homeport`: a message of the drain itself. */
  source: 'app' | 'build' | 'request' | 'homeport'
  level: LogLevel
  message: string
  project: string
  environment: 'production' | 'preview' | null
  branch: string | null
  service: string | null
  deployment_id: string | null
  /** Of app and build logs. */
  stream?: string
  /** Of build logs. */
  step?: string
  request?: Omit<StoredRequest, 'number' | 'time' | 'is_captured' | 'is_encrypted' | 'deployment_id'>
  /** Of the line that tells of dropped lines. */
  dropped?: number
}

type LineOrigin = Pick<DrainLine, 'id' | 'project' | 'service'> & { origin: LogOrigin | undefined; environment: DrainLine['environment'] }

export function toLogLine({ origin, ...known }: LineOrigin, record: LogRecord, deployment_id: string | null): DrainLine {
  const { ts, stream, line, step } = record
  return {
    ...known,
    timestamp: ts,
    source: step === undefined ? 'app' : 'build',
    level: levelOfRecord(record),
    message: line,
    branch: origin?.branch ?? null,
    deployment_id,
    stream,
    ...(step === undefined ? {} : { step }),
  }
}

export function toRequestLine({ origin, ...known }: LineOrigin, row: StoredRequest): DrainLine {
  const { number: _, time, is_captured: __, is_encrypted: ___, deployment_id, ...request } = row
  return {
    ...known,
    timestamp: isoTime(time),
    source: 'request',
    level: row.status >= 500 ? 'error' : 'info',
    message: `${row.method} ${row.host}${row.path}${row.query === null ? '' : `?${row.query}`} ${row.status} ${row.duration_ms} ms`,
    branch: origin?.branch ?? null,
    deployment_id,
    request,
  }
}

/** Tells the receiver of a gap in the lines that follow. */
export const toGapLine = (project: string, dropped: number, now: number): DrainLine => ({
  ...toOwnLine(project, `${dropped} ${dropped === 1 ? 'line was' : 'lines were'} dropped here, because the log drain was too far behind.`, now),
  level: 'warn',
  dropped,
})

export const toOwnLine = (project: string, message: string, now: number): DrainLine => ({
  id: null,
  timestamp: isoTime(now),
  source: 'homeport',
  level: 'info',
  message,
  project,
  environment: null,
  branch: null,
  service: null,
  deployment_id: null,
})

/** NDJSON, or a JSON array. */
export const formatJson = (lines: readonly DrainLine[], format: LogDrain['format']): string =>
  format === 'json' ? JSON.stringify(lines) : lines.map((line) => `${JSON.stringify(line)}\n`).join('')
