import { stripVTControlCharacters } from 'node:util'
import { detectLevel, type LogLevel } from '../contract/log-levels.ts'

/** A line as a chunk of a log has it. */
export interface LogRecord {
  ts: string
  stream: 'stdout' | 'stderr' | 'system'
  line: string
  deployment_id?: string | null
  /** Of build logs. */
  step?: string
}

/** The line of a record; undefined for one that is no line, such as a changed state. */
export const parseLogRecord = (json: string): LogRecord | undefined => (json.startsWith('{"seq"') ? (JSON.parse(json) as LogRecord) : undefined)

/** What the line states; otherwise standard error of an app is an error. Build tools write their progress to standard error. */
export const levelOfRecord = ({ line, stream, step }: LogRecord): LogLevel =>
  detectLevel(stripVTControlCharacters(line)) ?? (stream === 'stderr' && step === undefined ? 'error' : 'info')
