import { limits } from '../contract/limits.ts'
import type { TraceFilters } from '../contract/traces.ts'
import { toGlob } from './glob.ts'
import { all, first, insert, run, traceTables } from './query.ts'
import type { SqliteDatabase, SqliteTransaction } from './sqlite.ts'
import type { SpanRow, TraceRow } from './trace-tables.ts'

/** A span to be stored, with what the list of traces shows if it becomes the entry of its trace. */
export type NewSpan = Omit<SpanRow, 'seq' | 'project'> & { entry: Pick<TraceRow, 'entry_rank' | 'method' | 'route' | 'status' | 'branch'> }
/** `number`: of the first span of the trace in its project. */
export type StoredTrace = Omit<TraceRow, 'seq' | 'project' | 'last_span' | 'entry_rank' | 'entry_us'> & { number: number }

export type SpanOutline = Omit<SpanRow, 'details'>

/** The spans of each project's last traces, in the order in which they arrived. */
export interface TraceStore {
  /** Adds spans of a project in one transaction and deletes its oldest ones above the limits. A span that is stored already is ignored. */
  add(projectId: string, spans: readonly NewSpan[], dropped: number): Promise<void>
  /** The number of the oldest span that is stored, and the one after the last; both 0 for a project without spans. */
  readRange(projectId: string): { from: number; to: number }
  /** Traces whose first span has a number in a range, which does not include `to`; the newest first. */
  listTraces(projectId: string, filters: TraceFilters, range: { from: number; to: number; limit: number }): StoredTrace[]
  findTrace(projectId: string, traceId: string): StoredTrace | undefined
  /** The spans of a trace by their start. */
  listSpans(projectId: string, traceId: string, limit: number): SpanOutline[]
  findSpan(projectId: string, traceId: string, spanId: string): SpanRow | undefined
  countDropped(projectId: string): number
  /** Deletes spans of one project that arrived before a time, at most `rows`. `after` is 0, then what the previous call returned, until it is undefined. */
  expire(before_ms: number, after: number, rows: number): number | undefined
  /** Deletes at most `rows` spans of a project. True if more remain. */
  remove(projectId: string, rows: number): boolean
}

/** Numbers of different projects never meet. */
const spansPerProject = 2 ** 36
/** Spans that are deleted at once while a project has too many bytes. */
const deletedAtOnce = 500

const findProject = first((projectId: string) => traceTables.selectFrom('projects').selectAll().where('project_id', '=', projectId))
const findNextProject = first((after: number) => traceTables.selectFrom('projects').selectAll().where('key', '>', after).orderBy('key').limit(1))
const insertProject = run((projectId: string) =>
  traceTables.insertInto('projects').values({ project_id: projectId, last: 0, bytes: 0, dropped: 0 } as never),
)
const updateProject = run((key: number, last: number, bytes: number, dropped: number) =>
  traceTables.updateTable('projects').set({ last, bytes, dropped }).where('key', '=', key),
)
const updateBytes = run((key: number, bytes: number) => traceTables.updateTable('projects').set({ bytes }).where('key', '=', key))
const deleteProject = run((key: number) => traceTables.deleteFrom('projects').where('key', '=', key))
const findOldest = first((from: number, to: number) =>
  traceTables.selectFrom('spans').select('seq').where('seq', '>', from).where('seq', '<', to).orderBy('seq').limit(1),
)
const sumBytes = first((from: number, to: number) =>
  traceTables
    .selectFrom('spans')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('bytes'), eb.lit(0)).as('bytes'))
    .where('seq', '>', from)
    .where('seq', '<=', to),
)
const findNewerThan = first((from: number, to: number, time: number) =>
  traceTables
    .selectFrom('spans')
    .select('seq')
    .where('seq', '>', from)
    .where('seq', '<=', to)
    .where('received_at', '>=', time)
    .orderBy('seq')
    .limit(1),
)
const deleteSpans = run((from: number, to: number) => traceTables.deleteFrom('spans').where('seq', '>', from).where('seq', '<=', to))
const deleteTraces = run((from: number, to: number) => traceTables.deleteFrom('traces').where('last_span', '>', from).where('last_span', '<=', to))
const findStoredSpan = first((project: number, traceId: string, spanId: string) =>
  traceTables.selectFrom('spans').selectAll().where('project', '=', project).where('trace_id', '=', traceId).where('span_id', '=', spanId),
)
const outline = [
  'seq',
  'project',
  'trace_id',
  'span_id',
  'parent_id',
  'name',
  'kind',
  'service',
  'start_us',
  'duration_us',
  'is_error',
  'summary',
  'received_at',
  'bytes',
] as const
const listStoredSpans = all((project: number, traceId: string, limit: number) =>
  traceTables.selectFrom('spans').select(outline).where('project', '=', project).where('trace_id', '=', traceId).orderBy('start_us').limit(limit),
)
const findStoredTrace = first((project: number, traceId: string) =>
  traceTables.selectFrom('traces').selectAll().where('project', '=', project).where('trace_id', '=', traceId),
)
const insertSpan = insert<SpanRow>([...outline, 'details'], (row) => traceTables.insertInto('spans').values(row))
const replaceTrace = insert<TraceRow>(
  [
    'seq',
    'project',
    'trace_id',
    'last_span',
    'start_us',
    'end_us',
    'spans',
    'errors',
    'entry_rank',
    'entry_us',
    'name',
    'service',
    'method',
    'route',
    'status',
    'branch',
  ],
  (row) => traceTables.replaceInto('traces').values(row),
)

export function createTraceStore(db: SqliteDatabase): TraceStore {
  const read = <R>(projectId: string, otherwise: R, work: (tx: SqliteTransaction, project: TraceProject) => R): R =>
    db.readSync((tx) => {
      const project = findProject(tx, projectId)
      return project ? work(tx, project) : otherwise
    })

  return {
    add: (projectId, spans, dropped) =>
      db.write((tx) => {
        const project = openProject(tx, projectId)
        let { last, bytes } = project
        const traces = new Map<string, TraceRow>()
        for (const { entry, ...span } of spans) {
          if (findStoredSpan(tx, project.key, span.trace_id, span.span_id)) continue
          const row: SpanRow = { ...span, seq: project.key * spansPerProject + ++last, project: project.key }
          insertSpan(tx, row)
          bytes += row.bytes
          const known = traces.get(row.trace_id) ?? findStoredTrace(tx, project.key, row.trace_id)
          traces.set(row.trace_id, mergeSpan(known, row, entry))
        }
        for (const trace of traces.values()) replaceTrace(tx, trace)
        updateProject(tx, project.key, last, bytes, project.dropped + dropped)
        removeExcess(tx, { ...project, last, bytes })
      }),

    readRange: (projectId) =>
      read(projectId, { from: 0, to: 0 }, (tx, { key, last }) => {
        const base = key * spansPerProject
        return { from: (findOldest(tx, base, base + spansPerProject)?.seq ?? base + last + 1) - base, to: last + 1 }
      }),

    listTraces: (projectId, filters, { from, to, limit }) =>
      read<StoredTrace[]>(projectId, [], (tx, { key }) => {
        const base = key * spansPerProject
        const query = filterTraces(filters)
          .where('seq', '>=', base + from)
          .where('seq', '<', base + to)
        return tx.all<TraceRow>(query.orderBy('seq', 'desc').limit(limit)).map(toStoredTrace)
      }),

    findTrace: (projectId, traceId) =>
      read(projectId, undefined, (tx, { key }) => {
        const row = findStoredTrace(tx, key, traceId)
        return row && toStoredTrace(row)
      }),

    listSpans: (projectId, traceId, limit) => read<SpanOutline[]>(projectId, [], (tx, { key }) => listStoredSpans(tx, key, traceId, limit)),
    findSpan: (projectId, traceId, spanId) => read(projectId, undefined, (tx, { key }) => findStoredSpan(tx, key, traceId, spanId)),
    countDropped: (projectId) => read(projectId, 0, (_tx, { dropped }) => dropped),

    expire: (before_ms, after, rows) =>
      db.writeSync((tx) => {
        const project = findNextProject(tx, after)
        if (!project) return undefined
        const base = project.key * spansPerProject
        const oldest = findOldest(tx, base, base + spansPerProject)
        if (!oldest) return project.key
        const newer = findNewerThan(tx, base, oldest.seq + rows, before_ms)
        removeUpTo(tx, project, newer ? newer.seq - 1 : Math.min(oldest.seq + rows, base + project.last))
        return newer || oldest.seq + rows >= base + project.last ? project.key : after
      }),

    remove: (projectId, rows) =>
      db.writeSync((tx) => {
        const project = findProject(tx, projectId)
        if (!project) return false
        const base = project.key * spansPerProject
        const oldest = findOldest(tx, base, base + spansPerProject)
        if (oldest) removeUpTo(tx, project, oldest.seq + rows - 1)
        if (findOldest(tx, base, base + spansPerProject)) return true
        deleteProject(tx, project.key)
        return false
      }),
  }
}

type TraceProject = NonNullable<ReturnType<typeof findProject>>

function openProject(tx: SqliteTransaction, projectId: string): TraceProject {
  const existing = findProject(tx, projectId)
  if (existing) return existing
  insertProject(tx, projectId)
  return findProject(tx, projectId) ?? { key: 0, project_id: projectId, last: 0, bytes: 0, dropped: 0 }
}

/** A trace with one more span. Its name is that of the span with the best rank, of several the earliest. */
function mergeSpan(trace: TraceRow | undefined, span: SpanRow, entry: NewSpan['entry']): TraceRow {
  const end_us = span.start_us + span.duration_us
  const own = { ...entry, entry_us: span.start_us, name: span.name, service: span.service }
  const { seq, project, trace_id } = span
  if (!trace) return { seq, project, trace_id, last_span: seq, start_us: span.start_us, end_us, spans: 1, errors: span.is_error, ...own }
  const isBetter = entry.entry_rank < trace.entry_rank || (entry.entry_rank === trace.entry_rank && span.start_us < trace.entry_us)
  return {
    ...trace,
    ...(isBetter && own),
    last_span: seq,
    start_us: Math.min(trace.start_us, span.start_us),
    end_us: Math.max(trace.end_us, end_us),
    spans: trace.spans + 1,
    errors: trace.errors + span.is_error,
  }
}

function removeExcess(tx: SqliteTransaction, project: TraceProject): void {
  const base = project.key * spansPerProject
  let { bytes } = project
  if (project.last > limits.tracing.spans) bytes = removeUpTo(tx, project, base + project.last - limits.tracing.spans)
  while (bytes > limits.tracing.bytes) {
    const oldest = findOldest(tx, base, base + project.last)
    if (!oldest) return
    bytes = removeUpTo(tx, { ...project, bytes }, Math.min(oldest.seq + deletedAtOnce, base + project.last - 1))
  }
}

/** Deletes the spans of a project up to one, and the traces that end with them. Returns the bytes that remain. */
function removeUpTo(tx: SqliteTransaction, { key, bytes }: TraceProject, seq: number): number {
  const base = key * spansPerProject
  const remaining = bytes - (sumBytes(tx, base, seq)?.bytes ?? 0)
  if (deleteSpans(tx, base, seq) === 0) return bytes
  deleteTraces(tx, base, seq)
  updateBytes(tx, key, remaining)
  return remaining
}

const toStoredTrace = ({ seq, project, last_span: _, entry_rank: __, entry_us: ___, ...row }: TraceRow): StoredTrace => ({
  ...row,
  number: seq - project * spansPerProject,
})

function filterTraces({ route, status, min_duration_ms, errors, branch }: TraceFilters) {
  let query = traceTables.selectFrom('traces').selectAll()
  if (route !== undefined) query = query.where((eb) => eb(eb.fn<number>('glob', [eb.val(toGlob(route)), 'route']), '=', 1))
  if (status !== undefined) {
    const low = /^\d+$/.test(status) ? Number(status) : Number(status[0]) * 100
    query = query.where('status', '>=', low).where('status', '<=', /^\d+$/.test(status) ? low : low + 99)
  }
  if (min_duration_ms !== undefined) query = query.where((eb) => eb(eb('end_us', '-', eb.ref('start_us')), '>=', min_duration_ms * 1000))
  if (errors !== undefined) query = query.where('errors', '>', 0)
  if (branch !== undefined) query = query.where('branch', '=', branch)
  return query
}
