import { stripVTControlCharacters } from 'node:util'
import type { StoredLogLine } from '../contract/log-search.ts'
import { detectLevel } from '../contract/log-levels.ts'

interface LogRecord {
  ts: string
  line?: string
  stream?: 'stdout' | 'stderr' | 'system'
  deployment_id?: string | null
  /** Of build logs. */
  step?: string
}

/** A line of a chunk, and its text without escape sequences. */
export interface ParsedLogLine extends StoredLogLine {
  text: string
}

/** The lines of a chunk whose first record has a number. */
export function parseLogLines({ first, body }: { first: number; body: string }): ParsedLogLine[] {
  return body.split('\n').flatMap((json, index) => {
    const { ts, line, stream = 'system', deployment_id = null, step } = JSON.parse(json) as LogRecord
    if (line === undefined) return []
    const text = stripVTControlCharacters(line)
    const level =
      detectLevel(text) ?? // Build tools write their progress to standard error.
      (stream === 'stderr' && step === undefined ? 'error' : 'info')
    return { record: first + index, time: ts, stream, level, line, deployment_id, text }
  })
}

export const presentLogLine = ({ text: _, ...line }: ParsedLogLine): StoredLogLine => line

/** The time of the first record of a chunk, in milliseconds since 1970; 0 if it has none. */
export const readChunkTime = (body: string): number => Date.parse(/"ts":"([^"]{1,40})"/.exec(body)?.[1] ?? '') || 0
