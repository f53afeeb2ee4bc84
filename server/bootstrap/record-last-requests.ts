import type { Edge } from '../edge/edge.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/store.ts'

const writeInterval_ms = 1_000

/** Stores when each project last received a request. Writes are batched, because a write per request would cost more than the request. */
export function recordLastRequests(options: { db: Db; edge: Pick<Edge, 'takeLastRequests'>; clock: Clock; log: Log }) {
  const { db, edge, clock, log } = options
  const timer = clock.setInterval(() => {
    const lastRequests = edge.takeLastRequests()
    if (lastRequests.size === 0) return
    db.write((tx) => {
      for (const [id, at] of lastRequests) {
        // A preview is identified by its host name. A host name contains a dot, which no project id does.
        tx.sqlRun(
          `UPDATE ${id.includes('.') ? 'previews SET last_request_at = ? WHERE host' : 'projects SET last_request_at = ? WHERE id'} = ?`,
          isoTime(at),
          id,
        )
      }
      tx.publish({ type: 'requests_recorded' })
    }).catch((error: unknown) => log.warn('last_requests_not_stored', { error }))
  }, writeInterval_ms)
  return { close: () => timer.cancel() }
}
