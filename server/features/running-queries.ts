import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { QuerySession } from '../database/query-session.ts'
import type { Clock } from '../lib/clock.ts'

const { running, idle_ms } = limits.database_query
/** Identifiers are remembered, because a client sends a request again when its connection was lost, and a statement must not run twice. */
const rememberedIds = 10_000

/** A running statement. */
export interface QuerySlot {
  /** Aborts when the client left, or when the statement and its reader took too long. */
  signal: AbortSignal
  attach(session: QuerySession): void
  /** Ends the session. */
  end(): void
}

/** The running statements of all projects, for their limit and for cancellation. */
export function createQueryRegistry(clock: Clock) {
  const running_by_project = new Map<string, Set<string>>()
  const sessions = new Map<string, QuerySession | 'canceled' | undefined>()
  const usedIds = new Set<string>()
  let unnamed = 0

  return {
    start(projectId: string, id: string | undefined, timeout_ms: number, client: AbortSignal): QuerySlot {
      const name = `${projectId} ${id ?? ++unnamed}`
      const active = running_by_project.get(projectId) ?? new Set()
      if (usedIds.has(name)) throw new Problem('idempotency_conflict', 'A statement with this ID has already run. Use a new ID for each statement.')
      if (active.size >= running)
        throw new Problem('too_many_queries', `${running} statements are running in this database. Wait for one to end, or cancel one.`)
      active.add(name)
      running_by_project.set(projectId, active)
      sessions.set(name, undefined)
      if (id !== undefined) usedIds.add(name)
      if (usedIds.size > rememberedIds) usedIds.delete(usedIds.values().next().value ?? '')

      const overdue = new AbortController()
      const timer = clock.setTimeout(() => overdue.abort(new Error('the statement took too long')), timeout_ms + idle_ms).unref()
      const end = () => {
        const session = sessions.get(name)
        timer.cancel()
        client.removeEventListener('abort', onLeave)
        sessions.delete(name)
        active.delete(name)
        if (active.size === 0) running_by_project.delete(projectId)
        if (typeof session === 'object') void session.close()
      }
      /** The server would run the statement to its end before it notices that the connection was closed. */
      const onLeave = () => {
        const session = sessions.get(name)
        if (typeof session === 'object') session.cancel()
        end()
      }
      client.addEventListener('abort', onLeave)
      return {
        signal: AbortSignal.any([client, overdue.signal]),
        attach(session) {
          const isCanceled = sessions.get(name) === 'canceled'
          if (!isCanceled && sessions.has(name)) sessions.set(name, session)
          else {
            void session.close()
            throw new Problem('query_not_found', 'The statement was canceled before it started.')
          }
        },
        end,
      }
    },

    /** False: it is not running. */
    cancel(projectId: string, id: string): boolean {
      const name = `${projectId} ${id}`
      if (!sessions.has(name)) return false
      const session = sessions.get(name)
      if (typeof session === 'object') session.cancel()
      else sessions.set(name, 'canceled')
      return true
    },
  }
}
