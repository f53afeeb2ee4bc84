import { stripVTControlCharacters } from 'node:util'
import type { StoredLogLine } from '../contract/log-search.ts'
import { levelOfRecord, parseLogRecord } from '../store/log-records.ts'

/** A line of a chunk, and its text without escape sequences. */
export interface ParsedLogLine extends StoredLogLine {
  text: string
}

/** The lines of a chunk whose first record has a number. */
export function parseLogLines({ first, body }: { first: number; body: string }): ParsedLogLine[] {
  return body.split('\n').flatMap((json, index) => {
    const record = parseLogRecord(json)
    if (!record) return []
    const { ts, line, stream, deployment_id = null } = record
    return { record: first + index, time: ts, stream, level: levelOfRecord(record), line, deployment_id, text: stripVTControlCharacters(line) }
  })
}

export const presentLogLine = ({ text: _, ...line }: ParsedLogLine): StoredLogLine => line

/** The time of the first record of a chunk, in milliseconds since 1970; 0 if it has none. */
export const readChunkTime = (body: string): number => Date.parse(/"ts":"([^"]{1,40})"/.exec(body)?.[1] ?? '') || 0
