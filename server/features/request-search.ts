import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import type { RequestStore, RowFilters, StoredRequest } from '../store/request-store.ts'

/** Rows that a filter is applied to at once: few at first, twice as many after each quick step, because the cost of a pattern depends on the paths. */
export const searchSteps = { min_rows: 100, max_rows: 10_000, slow_ms: 10 } as const

interface SearchRange {
  from: number
  to: number
  limit: number
}

/** The newest requests of a range, which does not include `to`. */
export const findNewestRequests = (
  { store, clock }: { store: Pick<RequestStore, 'list'>; clock: Clock },
  projectId: string,
  filters: RowFilters,
  range: SearchRange,
): Promise<StoredRequest[]> => searchNewest(clock, (part) => store.list(projectId, filters, { ...part, order: 'desc' }), range)

/** The newest rows of a range, which does not include `to`. The event loop runs between the steps of the search. */
export async function searchNewest<Row>(clock: Clock, list: (range: SearchRange) => Row[], { from, to, limit }: SearchRange): Promise<Row[]> {
  const { min_rows, max_rows, slow_ms } = searchSteps
  const found: Row[] = []
  let size: number = min_rows
  for (let end = to; end > from && found.length < limit; await yieldToEventLoop()) {
    const startedAt = clock.monotonic()
    const start = Math.max(from, end - size)
    found.push(...list({ from: start, to: end, limit: limit - found.length }))
    end = start
    size = clock.monotonic() - startedAt < slow_ms ? Math.min(max_rows, size * 2) : min_rows
  }
  return found
}
