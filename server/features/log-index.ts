import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { LogSearch } from '../store/log-search.ts'
import { parseLogLines } from './log-lines.ts'

/** Indexes the words of everything that was logged since the last time. The event loop runs between the parts. */
export async function indexLogs(search: Pick<LogSearch, 'indexNext'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && search.indexNext(toIndexText)) await yieldToEventLoop()
}

export const toIndexText = ({ body }: { body: string }): string =>
  parseLogLines({ first: 1, body })
    .map(({ text }) => text)
    .join('\n')
