import type { ExpressionBuilder, SqlBool } from 'kysely'
import type { RequestFilters } from '../contract/requests.ts'
import { limits } from '../contract/limits.ts'
import { deleteCaptures, findCapturedRow, insertCapture, trimCaptures } from './captured-requests.ts'
import { toGlob } from './glob.ts'
import { toRoutePatterns, toRouteTemplate } from '../lib/route-template.ts'
import { requestIdOf } from '../lib/trace-context.ts'
import { all, first, insert, requestTables, run } from './query.ts'
import type { RequestRow, RequestTables } from './request-tables.ts'
import { readUsedBytes, type SqliteDatabase, type SqliteTransaction } from './sqlite.ts'

export type NewRequestRow = Omit<RequestRow, 'seq' | 'project' | 'status_class'> & {
  project_id: string
  /** What was captured of it. */
  sealed_exchange?: Uint8Array | null
}
/** `number`: of the request in its project, in the order in which requests ended. */
export type StoredRequest = Omit<RequestRow, 'seq' | 'project' | 'status_class'> & { number: number; is_captured: boolean }
/** What the figures of a route are computed from. */
export type RouteRequestRow = Pick<RequestRow, 'time' | 'method' | 'path' | 'status' | 'duration_ms' | 'bytes' | 'skipped_before'>
export type RowFilters = Omit<RequestFilters, 'since' | 'until'>

/** The request log: of each project the last requests, by their number. */
export interface RequestStore {
  /** Adds requests in one transaction, in their order, and deletes the oldest ones, and the oldest captures, of their projects above the limits. */
  add(rows: readonly NewRequestRow[]): Promise<void>
  /**
   * The numbers of the requests of a project that ended within a time: the oldest one that is stored, and the one after the last. `last` is the number of
   * the last request at all. All are 0 for a project without requests.
   */
  readRange(projectId: string, since_ms?: number, until_ms?: number): { from: number; to: number; last: number }
  /** Requests from a number up to another, which is not included; the newest first, or the oldest. */
  list(projectId: string, filters: RowFilters, range: { from: number; to: number; limit: number; order: 'asc' | 'desc' }): StoredRequest[]
  /** The requests of a project within a trace, oldest first. `ids`: requests whose own ID gave the trace its ID. */
  listOfTrace(projectId: string, traceId: string, ids: readonly string[], limit: number): StoredRequest[]
  /** All requests from a number up to another, which is not included; the oldest first. */
  listForRoutes(projectId: string, range: { from: number; to: number }): RouteRequestRow[]
  /** A request of any project. */
  find(id: string): (StoredRequest & { project_id: string }) | undefined
  /**
   * Deletes requests of one project that ended before a time, at most `rows`. `after` is 0, then what the previous call returned, until it is undefined.
   */
  expire(before_ms: number, after: number, rows: number): number | undefined
  /** What was captured of a request. */
  findCapture(id: string): Uint8Array | undefined
  /** Deletes everything that was captured of a project. */
  removeCaptures(projectId: string): Promise<void>
  /** Above this size of the file, deletes at most `rows` of the oldest requests of the largest project. True if the file is still larger. */
  trim(bytes: number, rows: number): boolean
  /** Deletes at most `rows` requests of a project. True if more remain. */
  remove(projectId: string, rows: number): boolean
}

/** Numbers of different projects never meet: at the greatest rate a project reaches this one after two years. */
const requestsPerProject = 2 ** 36

const findProject = first((projectId: string) => requestTables.selectFrom('projects').select(['key', 'last']).where('project_id', '=', projectId))
const findNextProject = first((after: number) =>
  requestTables.selectFrom('projects').select(['key', 'last']).where('key', '>', after).orderBy('key').limit(1),
)
const insertProject = run((projectId: string) =>
  requestTables.insertInto('projects').values({ project_id: projectId, last: 0, captured_bytes: 0 } as never),
)
const updateLast = run((key: number, last: number) => requestTables.updateTable('projects').set({ last }).where('key', '=', key))
const deleteProject = run((key: number) => requestTables.deleteFrom('projects').where('key', '=', key))
const findOldest = first((from: number, to: number) =>
  requestTables.selectFrom('requests').select('seq').where('seq', '>', from).where('seq', '<', to).orderBy('seq').limit(1),
)
const findLast = first((from: number, to: number) =>
  requestTables.selectFrom('requests').select('seq').where('seq', '>', from).where('seq', '<', to).orderBy('seq', 'desc').limit(1),
)
const deleteRequests = run((from: number, to: number) => requestTables.deleteFrom('requests').where('seq', '>', from).where('seq', '<=', to))
const listProjects = all(() => requestTables.selectFrom('projects').selectAll())
/** The first request from a number on, and when it ended. */
const findEnd = first((from: number, to: number) =>
  requestTables
    .selectFrom('requests')
    .select((eb) => ['seq', eb('time', '+', eb.ref('duration_ms')).as('ended_ms')])
    .where('seq', '>=', from)
    .where('seq', '<', to)
    .orderBy('seq')
    .limit(1),
)
const isCaptured = (eb: ExpressionBuilder<RequestTables, 'requests'>) =>
  eb.exists(eb.selectFrom('captures').select('captures.seq').whereRef('captures.seq', '=', 'requests.seq'))
const listRouteRows = all((from: number, to: number) =>
  requestTables
    .selectFrom('requests')
    .select(['time', 'method', 'path', 'status', 'duration_ms', 'bytes', 'skipped_before'])
    .where('seq', '>=', from)
    .where('seq', '<', to)
    .orderBy('seq'),
)
const findById = first((id: string) =>
  requestTables
    .selectFrom('requests')
    .innerJoin('projects', 'projects.key', 'requests.project')
    .selectAll('requests')
    .select((eb) => ['projects.project_id', isCaptured(eb).as('is_captured')])
    .where('requests.id', '=', id),
)
const columns = [
  'seq',
  'project',
  'id',
  'time',
  'method',
  'host',
  'path',
  'query',
  'is_encrypted',
  'protocol',
  'status',
  'status_class',
  'duration_ms',
  'wake_ms',
  'queue_ms',
  'app_ms',
  'transfer_ms',
  'bytes',
  'cache',
  'cache_status',
  'deployment_id',
  'replica',
  'client_ip',
  'user_agent',
  'trace_id',
  'failure',
  'skipped_before',
] as const satisfies readonly (keyof RequestRow)[]
const insertRequest = insert<RequestRow>(columns, (row) => requestTables.insertInto('requests').values(row))

export function createRequestStore(db: SqliteDatabase): RequestStore {
  db.raw.function('route_template', { deterministic: true }, (path) => toRouteTemplate(String(path)))
  const rangeOf = (tx: SqliteTransaction, projectId: string) => {
    const project = findProject(tx, projectId)
    if (!project) return undefined
    const base = project.key * requestsPerProject
    return { ...project, base, end: base + requestsPerProject }
  }

  return {
    add: (rows) =>
      db.write((tx) => {
        const projects = new Map<string, { key: number; last: number; added: number }>()
        for (const { sealed_exchange, ...row } of rows) {
          const project = projects.get(row.project_id) ?? { ...openProject(tx, row.project_id), added: 0 }
          projects.set(row.project_id, project)
          project.added++
          const complete: RequestRow = {
            ...row,
            seq: project.key * requestsPerProject + ++project.last,
            project: project.key,
            status_class: Math.floor(row.status / 100),
          }
          insertRequest(tx, complete)
          if (sealed_exchange) insertCapture(tx, project.key, { seq: complete.seq, bytes: sealed_exchange.length, sealed_exchange })
        }
        for (const { key, last } of projects.values()) {
          updateLast(tx, key, last)
          const base = key * requestsPerProject
          if (last > limits.request_log.rows) deleteUpTo(tx, key, base, base + last - limits.request_log.rows)
          trimCaptures(tx, key, { base, end: base + requestsPerProject })
        }
      }),

    readRange: (projectId, since_ms, until_ms) =>
      db.readSync((tx) => {
        const project = rangeOf(tx, projectId)
        if (!project) return { from: 0, to: 0, last: 0 }
        const { base, end, last } = project
        const oldest = findOldest(tx, base, end)
        const bounds = { base, end: base + last + 1 }
        const from = since_ms === undefined ? (oldest?.seq ?? bounds.end) : firstEndedSince(tx, bounds, since_ms)
        const to = until_ms === undefined ? bounds.end : firstEndedSince(tx, bounds, until_ms)
        return { from: from - base, to: to - base, last }
      }),

    list: (projectId, filters, { from, to, limit, order }) =>
      db.readSync((tx) => {
        const project = rangeOf(tx, projectId)
        if (!project) return []
        const query = filterRequests(project.key, filters)
          .where('seq', '>=', project.base + from)
          .where('seq', '<', project.base + to)
        return tx.all<RequestRow & { is_captured: SqlBool }>(query.orderBy('seq', order).limit(limit)).map(toStoredRequest)
      }),

    listOfTrace: (projectId, traceId, ids, limit) =>
      db.readSync((tx) => {
        const project = findProject(tx, projectId)
        if (!project) return []
        const own = ids.flatMap((id) => findById(tx, id) ?? []).filter((row) => row.project === project.key && row.trace_id === null)
        const continued = tx.all<RequestRow & { is_captured: SqlBool }>(
          selectRequests().where('trace_id', '=', traceId).where('project', '=', project.key).orderBy('seq').limit(limit),
        )
        return [...own, ...continued].slice(0, limit).map(toStoredRequest)
      }),

    listForRoutes: (projectId, { from, to }) =>
      db.readSync((tx) => {
        const project = rangeOf(tx, projectId)
        return project ? listRouteRows(tx, project.base + from, project.base + to) : []
      }),

    find(id) {
      const row = db.readSync((tx) => findById(tx, id))
      return row && { ...toStoredRequest(row), project_id: row.project_id }
    },

    expire: (before_ms, after, rows) =>
      db.writeSync((tx) => {
        const project = findNextProject(tx, after)
        if (!project) return undefined
        const base = project.key * requestsPerProject
        const end = firstEndedSince(tx, { base, end: base + project.last + 1 }, before_ms)
        const oldest = findOldest(tx, base, end)
        if (!oldest) return project.key
        deleteUpTo(tx, project.key, base, Math.min(end - 1, oldest.seq + rows - 1))
        return oldest.seq + rows < end ? after : project.key
      }),

    findCapture: (id) => db.readSync((tx) => findCapturedRow(tx, id)?.sealed_exchange),

    removeCaptures: (projectId) =>
      db.write((tx) => {
        const project = rangeOf(tx, projectId)
        if (project) deleteCaptures(tx, project.key, project.base, project.end)
      }),

    trim(bytes, rows) {
      if (readUsedBytes(db) <= bytes) return false
      db.writeSync((tx) => {
        const largest = listProjects(tx)
          .map(({ key, last, captured_bytes }) => {
            const base = key * requestsPerProject
            const oldest = findOldest(tx, base, base + requestsPerProject)?.seq ?? base + last + 1
            return { key, base, oldest, size: (base + last + 1 - oldest) * row_bytes + captured_bytes }
          })
          .toSorted((a, b) => b.size - a.size)[0]
        if (largest) deleteUpTo(tx, largest.key, largest.base, largest.oldest + rows - 1)
      })
      return readUsedBytes(db) > bytes
    },

    remove: (projectId, rows) =>
      db.writeSync((tx) => {
        const project = rangeOf(tx, projectId)
        if (!project) return false
        const oldest = findOldest(tx, project.base, project.end)
        if (oldest) deleteUpTo(tx, project.key, project.base, oldest.seq + rows - 1)
        if (findOldest(tx, project.base, project.end)) return true
        deleteProject(tx, project.key)
        return false
      }),
  }
}

/** About what a request and its entries in the indexes take. */
const row_bytes = 450

/** Deletes the requests after `from` up to `to`, with what was captured of them. */
function deleteUpTo(tx: SqliteTransaction, key: number, from: number, to: number): void {
  deleteRequests(tx, from, to)
  deleteCaptures(tx, key, from, to)
}

function openProject(tx: SqliteTransaction, projectId: string): { key: number; last: number } {
  const existing = findProject(tx, projectId)
  if (existing) return existing
  insertProject(tx, projectId)
  return findProject(tx, projectId) ?? { key: 0, last: 0 }
}

/** Requests are numbered as they end, so that the first one of a time is found by bisection, without an index of times. */
function firstEndedSince(tx: SqliteTransaction, { base, end }: { base: number; end: number }, time: number): number {
  const last = findLast(tx, base, end)
  if (!last) return end
  let low = base + 1
  let high = last.seq + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = findEnd(tx, middle, high)
    if (!found || found.ended_ms >= time) high = middle
    else low = found.seq + 1
  }
  return low
}

function toStoredRequest({ seq, project, status_class: _, is_captured, ...row }: RequestRow & { is_captured: SqlBool }): StoredRequest {
  return { ...row, is_captured: Boolean(is_captured), number: seq - project * requestsPerProject }
}

const selectRequests = () =>
  requestTables
    .selectFrom('requests')
    .selectAll()
    .select((eb) => isCaptured(eb).as('is_captured'))

const statusClasses = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

/**
 * With a status, a path or a route, the index of statuses is read, which has the paths too. Otherwise the rows themselves are read in the order of their
 * numbers, of which those of the range are a range.
 */
function filterRequests(
  project: number,
  {
    status,
    method,
    path,
    route,
    host,
    deployment,
    replica,
    cache,
    client_ip,
    failure,
    min_duration_ms,
    min_wake_ms,
    min_bytes,
    trace_id,
    id,
    ...others
  }: RowFilters,
) {
  let query = selectRequests()
  if (status !== undefined) {
    query = query.where('project', '=', project).where('status_class', '=', Number(status[0]))
    if (/^\d+$/.test(status)) query = query.where('status', '=', Number(status))
  } else if (path !== undefined || route !== undefined) {
    query = query.where('project', '=', project).where('status_class', 'in', statusClasses)
  }
  if (path !== undefined) query = query.where((eb) => eb(eb.fn<number>('glob', [eb.val(toGlob(path)), 'path']), '=', 1))
  if (route !== undefined) {
    // Patterns are cheaper, and exclude most other paths.
    const { included, excluded, min_length } = toRoutePatterns(route)
    query = query.where((eb) => {
      const matches = (pattern: string, is: 0 | 1) => eb(eb.fn<number>('glob', [eb.val(pattern), 'path']), '=', is)
      const isLong = eb(eb.fn<number>('length', ['path']), '>', min_length)
      return eb.and([eb.or([matches(included, 1), isLong]), ...(excluded === null ? [] : [matches(excluded, 0)])])
    })
    query = query.where((eb) => eb(eb.fn<string>('route_template', ['path']), '=', route))
  }
  if (method !== undefined) query = query.where('method', '=', method.toUpperCase())
  if (host !== undefined) query = query.where('host', '=', host.toLowerCase())
  if (deployment !== undefined) query = query.where('deployment_id', '=', deployment)
  if (replica !== undefined) query = query.where('replica', '=', replica)
  if (cache !== undefined) query = query.where('cache', '=', cache)
  if (client_ip !== undefined) query = query.where('client_ip', '=', client_ip)
  if (failure !== undefined) query = query.where('failure', '=', failure)
  if (min_duration_ms !== undefined) query = query.where('duration_ms', '>=', min_duration_ms)
  if (min_wake_ms !== undefined) query = query.where('wake_ms', '>=', min_wake_ms)
  if (min_bytes !== undefined) query = query.where('bytes', '>=', min_bytes)
  for (const column of ['query', 'cache_status', 'user_agent'] as const) {
    const text = others[column]?.toLowerCase()
    if (text !== undefined) query = query.where((eb) => eb(eb.fn<number>('instr', [eb.fn('lower', [column]), eb.val(text)]), '>', 0))
  }
  if (trace_id !== undefined) {
    const own = requestIdOf(trace_id)
    query = query.where((eb) =>
      eb.or([eb('trace_id', '=', trace_id), ...(own === undefined ? [] : [eb.and([eb('id', '=', own), eb('trace_id', 'is', null)])])]),
    )
  }
  if (id !== undefined) query = query.where('id', '=', id)
  return query
}
