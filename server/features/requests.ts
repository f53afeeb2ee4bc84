import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { LoggedRequest, requestOperations } from '../contract/requests.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { truncateClientIp } from '../lib/client-ip.ts'
import { isoTime } from '../lib/clock.ts'
import { spanIdOf, traceIdOf } from '../lib/trace-context.ts'
import { decodeCursor, encodeCursor } from '../store/pagination.ts'
import { findProjectOrDeleted } from '../store/projects.ts'
import type { RowFilters, StoredRequest } from '../store/request-store.ts'
import { canAccessProject } from './access.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'
import { findNewestRequests, searchSteps } from './request-search.ts'

export function createRequestHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof requestOperations> {
  const { requests: store, db } = deps.store
  const search = { store, clock: deps.clock }
  return {
    async listRequests({ project }, { query: { limit = limits.page.default, cursor, since, until, ...filters } }) {
      const list = listName(project.id)
      const before = parseCursor(list, cursor)
      await deps.requests.flush()
      const { from, to, last } = store.readRange(project.id, toMs(since), toMs(until))
      const rows = await findNewestRequests(search, project.id, toRowFilters(filters), { from, to: Math.min(to, before ?? to), limit: limit + 1 })
      const end = rows.length > limit ? rows[limit - 1] : undefined
      return {
        requests: rows.slice(0, limit).map(presentRequest),
        next_cursor: end ? encodeCursor(list, end.number) : null,
        last_event_id: encodeCursor(list, last),
        is_recording: deps.requests.isEnabled(),
      }
    },

    streamRequests: async ({ project, signal }, { query: { last_event_id, ...filters } }) =>
      followRequests(deps, project.id, toRowFilters(filters), last_event_id, signal),

    async getRequest({ caller }, { params: { id } }) {
      await deps.requests.flush()
      const found = /^req_[0-9a-z]{26}$/.test(id) ? store.find(id) : undefined
      const slug = await db.read((tx) => {
        const project = found && findProjectOrDeleted(tx, found.project_id)
        return project && project.deleted_at === null && canAccessProject(tx, caller, project) ? project.slug : undefined
      })
      if (!found || slug === undefined)
        throw new Problem('request_not_found', 'There is no such request in the request log, or you do not have access. Check the ID.')
      return { request: presentRequest(found), project: slug }
    },
  }
}

/** Reads from the store at the pace of the reader. Requests that were deleted before the reader came to them are reported as dropped. */
async function* followRequests(
  deps: FeatureDeps,
  projectId: string,
  filters: RowFilters,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const { requests: store } = deps.store
  const list = listName(projectId)
  let wake: (() => void) | undefined
  const onStored = (): void => wake?.()
  await deps.requests.flush()
  let next = 1 + ((lastEventId === undefined ? undefined : decodeCursor(list, lastEventId)) ?? store.readRange(projectId).last)
  const unsubscribe = deps.requests.follow(onStored)
  signal.addEventListener('abort', onStored)
  try {
    while (!signal.aborted) {
      const { from, last } = store.readRange(projectId)
      if (next > last) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      if (from > next) {
        yield { event: 'lagged', data: { dropped: from - next } }
        next = from
      }
      const limit = searchSteps.min_rows
      const to = Math.min(last + 1, next + limit)
      const rows = store.list(projectId, filters, { from: next, to, limit, order: 'asc' })
      next = to
      // A filter that matches nothing would otherwise read the whole log without a pause.
      await yieldToEventLoop()
      for (const row of rows) yield { event: 'request', id: encodeCursor(list, row.number), data: presentRequest(row) }
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', onStored)
  }
}

const listName = (projectId: string): string => `requests ${projectId}`

const toMs = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time))

const toRowFilters = ({ client_ip, ...filters }: RowFilters): RowFilters => ({
  ...filters,
  client_ip: client_ip === undefined ? undefined : truncateClientIp(client_ip),
})

export function presentRequest(row: StoredRequest): LoggedRequest {
  return {
    id: row.id,
    time: isoTime(row.time),
    method: row.method,
    host: row.host,
    path: row.path,
    query: row.query,
    scheme: row.is_encrypted === 1 ? 'https' : 'http',
    protocol: row.protocol,
    status: row.status,
    duration_ms: row.duration_ms,
    wake_ms: row.wake_ms,
    queue_ms: row.queue_ms,
    app_ms: row.app_ms,
    transfer_ms: row.transfer_ms,
    bytes: row.bytes,
    cache: row.cache as LoggedRequest['cache'],
    cache_status: row.cache_status,
    deployment_id: row.deployment_id,
    replica: row.replica,
    client_ip: row.client_ip,
    user_agent: row.user_agent,
    trace_id: row.trace_id ?? traceIdOf(row.id),
    span_id: spanIdOf(row.id),
    failure: row.failure as LoggedRequest['failure'],
    is_captured: row.is_captured,
    skipped_before: row.skipped_before,
  }
}
