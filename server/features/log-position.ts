import type { LogStore } from '../store/log-store.ts'
import { readChunkTime } from './log-lines.ts'

/** The record after which lines of a time begin, by bisection, because records are in the order of their times. */
export function findRecordAt(logs: Pick<LogStore, 'readAfter' | 'readEnd'>, stream: string, time_ms: number): number {
  let low = 0
  let high = logs.readEnd(stream).record
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const chunk = logs.readAfter(stream, middle)
    if (!chunk || readChunkTime(chunk.body) >= time_ms) high = middle
    else low = Math.max(middle + 1, chunk.first)
  }
  // The chunk before may have later lines too.
  return Math.max(0, low - 1)
}
