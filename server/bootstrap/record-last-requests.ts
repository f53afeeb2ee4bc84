import type { Edge } from '../edge/edge.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/store.ts'
import { recordRequests } from '../store/projects.ts'

const writeInterval_ms = 1_000

/** Stores when each project last received a request. Writes are batched, because a write per request would cost more than the request. */
export function recordLastRequests(options: { db: Db; edge: Pick<Edge, 'takeLastRequests'>; clock: Clock; log: Log }) {
  const { db, edge, clock, log } = options
  const timer = clock.setInterval(() => {
    const lastRequests = edge.takeLastRequests()
    if (lastRequests.size === 0) return
    const rows = new Map([...lastRequests].map(([id, at_ms]) => [id, isoTime(at_ms)]))
    db.write((tx) => recordRequests(tx, rows)).catch((error: unknown) => log.warn('last_requests_store_failed', { error }))
  }, writeInterval_ms)
  return { close: () => timer.cancel() }
}
