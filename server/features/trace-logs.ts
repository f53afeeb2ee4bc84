import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { LogStore } from '../store/log-store.ts'
import { findRecordAt } from './log-position.ts'
import { readChunkTime } from './log-lines.ts'
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
  let at = findRecordAt(logs, stream, search.from_ms - before_ms)
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
