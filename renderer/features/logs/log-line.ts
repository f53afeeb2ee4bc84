import type { LogLevel } from '../../../server/contract/log-levels.ts'

export type LogSource = 'stdout' | 'stderr' | 'system'

export interface LogLine {
  text: string
  source: LogSource
  ts: string | null
  /** The step of a build, or the deployment of a running app. */
  group: string | null
  /** Its number, from 1, for as long as the store lives. */
  number: number
  /** Computed once on demand: a hundred thousand lines are measured on every resize and searched on every keystroke. */
  width?: number | undefined
  /** What its row shows, instead of its text. */
  summary?: string | undefined
  lower?: string | undefined
  level?: LogLevel | undefined
  /** An indented line belongs to the last unindented line before it in its stream. */
  continues?: LogLine | undefined
}
