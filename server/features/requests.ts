import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { LoggedRequest, RequestFilters, requestOperations } from '../contract/requests.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { truncateClientIp } from '../lib/client-ip.ts'
import { isoTime } from '../lib/clock.ts'
import { spanIdOf, traceIdOf } from '../lib/trace-context.ts'
import { decodeCursor, encodeCursor } from '../store/pagination.ts'
import { findProjectOrDeleted } from '../store/projects.ts'
import type { StoredRequest, StoredRequestFilters } from '../store/request-store.ts'
import { canAccessAccount } from './access.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { parseCursor } from './projects.ts'

/** Requests that a stream reads at a time. */
const streamBatch = 200

export function createRequestHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof requestOperations> {
  const { requests: store, db } = deps.store
  return {
    async listRequests({ project }, { query: { limit = limits.page.default, cursor, ...filters } }) {
      const list = listName(project.id)
      const before = parseCursor(list, cursor)
      await deps.requests.flush()
      const rows = store.listBefore(project.id, toStoredFilters(filters), before, limit + 1)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return {
        requests: rows.slice(0, limit).map(presentRequest),
        next_cursor: last ? encodeCursor(list, last.number) : null,
        last_event_id: encodeCursor(list, store.readRange(project.id).last),
        is_recording: deps.requests.isEnabled(),
      }
    },

    streamRequests: async ({ project, signal }, { query: { last_event_id, ...filters } }) =>
      followRequests(deps, project.id, toStoredFilters(filters), last_event_id, signal),

    async getRequest({ caller }, { params: { id } }) {
      await deps.requests.flush()
      const found = /^req_[0-9a-z]{26}$/.test(id) ? store.find(id) : undefined
      const slug = await db.read((tx) => {
        const project = found && findProjectOrDeleted(tx, found.project_id)
        return project && project.deleted_at === null && canAccessAccount(tx, caller, project.account_id) ? project.slug : undefined
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
  filters: StoredRequestFilters,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const { requests: store } = deps.store
  const list = listName(projectId)
  let isStale = true
  let wake: (() => void) | undefined
  const onStored = (): void => {
    isStale = true
    wake?.()
  }
  await deps.requests.flush()
  let at = (lastEventId === undefined ? undefined : decodeCursor(list, lastEventId)) ?? store.readRange(projectId).last
  const unsubscribe = deps.requests.follow(onStored)
  signal.addEventListener('abort', onStored)
  try {
    while (!signal.aborted) {
      if (!isStale)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      isStale = false
      const { last, oldest } = store.readRange(projectId)
      if (oldest > at + 1) {
        yield { event: 'lagged', data: { dropped: oldest - at - 1 } }
        at = oldest - 1
      }
      const rows = store.listAfter(projectId, filters, at, streamBatch)
      for (const row of rows) yield { event: 'request', id: encodeCursor(list, row.number), data: presentRequest(row) }
      at = rows.length === streamBatch ? (rows.at(-1)?.number ?? at) : Math.max(at, last)
      if (rows.length === streamBatch) isStale = true
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', onStored)
  }
}

const listName = (projectId: string): string => `requests ${projectId}`

const toStoredFilters = ({ since, until, client_ip, ...filters }: RequestFilters): StoredRequestFilters => ({
  ...filters,
  client_ip: client_ip === undefined ? undefined : truncateClientIp(client_ip),
  since_ms: since === undefined ? undefined : Date.parse(since),
  until_ms: until === undefined ? undefined : Date.parse(until),
})

function presentRequest(row: StoredRequest): LoggedRequest {
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
    skipped_before: row.skipped_before,
  }
}
