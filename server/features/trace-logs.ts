import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { LogStore } from '../store/log-store.ts'
import type { FoundLine } from './trace-view.ts'

/** Lines are read from a moment before a trace, because a line has the time at which Homeport read it, and spans that of the app. */
const before_ms = 1_000
const after_ms = 5_000
/** Text that is searched per log; a busy app writes more in the time of a long trace. */
const maxBytes = 8 * 2 ** 20

/** The lines of a log around a time that contain one of some texts. The event loop runs between the chunks of the log. */
export async function findLogLines(
  logs: Pick<LogStore, 'readAfter' | 'readEnd'>,
  stream: string,
  search: { from_ms: number; to_ms: number; texts: readonly string[]; limit: number },
): Promise<Omit<FoundLine, 'service'>[]> {
  const found: Omit<FoundLine, 'service'>[] = []
  let bytes = 0
  let at = findRecord(logs, stream, search.from_ms - before_ms)
  for (;;) {
    const chunk = logs.readAfter(stream, at)
    if (!chunk || bytes > maxBytes || found.length >= search.limit) return found
    bytes += chunk.body.length
    at = chunk.first + chunk.records - 1
    if (readChunkTime(chunk.body) > search.to_ms + after_ms) return found
    if (search.texts.some((text) => chunk.body.includes(text)))
      for (const record of chunk.body.split('\n')) {
        if (found.length >= search.limit || !search.texts.some((text) => record.includes(text))) continue
        const { ts, line, stream: of } = JSON.parse(record) as { ts: string; line?: string; stream?: 'stdout' | 'stderr' }
        if (line !== undefined && of !== undefined) found.push({ ts, line, stream: of })
      }
    await yieldToEventLoop()
  }
}

/** The record after which lines of a time begin, by bisection, because records are in the order of their times. */
function findRecord(logs: Pick<LogStore, 'readAfter' | 'readEnd'>, stream: string, time_ms: number): number {
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

const readChunkTime = (body: string): number => Date.parse(/"ts":"([^"]{1,40})"/.exec(body)?.[1] ?? '') || 0
