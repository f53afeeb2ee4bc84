import { expressionBuilder, type Insertable } from 'kysely'
import type { ProjectStatus } from '../contract/projects.ts'
import { findPreviewByHost } from './previews.ts'
import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ProjectRow, Tables } from './tables.ts'

/** The project with this slug, unless it is deleted. The caller checks access. */
export const findProjectBySlug = first((slug: string) =>
  tables.selectFrom('projects').selectAll().where('slug', '=', slug).where('deleted_at', 'is', null),
)

export const findProject = first((id: string) => tables.selectFrom('projects').selectAll().where('id', '=', id).where('deleted_at', 'is', null))

const listProjectsOfAccount = all((account: string, before: number, limit: number) =>
  tables
    .selectFrom('projects')
    .selectAll()
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .where('seq', '<', before)
    .orderBy('seq', 'desc')
    .limit(limit),
)

/** Newest first, from before `before` (a sequence number). One index walk per account, merged. `only`: the ID of the only project to list. */
export function listProjects(tx: Tx, options: { accounts: string[]; only: string | null; before: number | undefined; limit: number }): ProjectRow[] {
  const { accounts, only, before = Number.MAX_SAFE_INTEGER, limit } = options
  if (only !== null) {
    const row = findProject(tx, only)
    return row && accounts.includes(row.account_id) && row.seq < before ? [row] : []
  }
  const rows = accounts.flatMap((account) => listProjectsOfAccount(tx, account, before, limit))
  return accounts.length > 1 ? rows.sort((a, b) => b.seq - a.seq).slice(0, limit) : rows
}

/** The searchable columns of every project of an account, newest first. */
export const listSearchableProjects = all((account: string) =>
  tables
    .selectFrom('projects')
    .select(['seq', 'id', 'name', 'slug', 'repo_url'])
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc'),
)

export const findProjectBySeq = first((seq: number) => tables.selectFrom('projects').selectAll().where('seq', '=', seq))

const listRequestedProjectsOfAccount = all((account: string, since: string, limit: number) =>
  tables
    .selectFrom('projects')
    .select(['id', 'slug'])
    .select((eb) => eb.ref('last_request_at').$notNull().as('last_request_at'))
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null)
    .where('last_request_at', '>=', since)
    .orderBy('last_request_at', 'desc')
    .limit(limit),
)

/** Projects that received a request since a time, the most recent first. */
export function listRecentlyRequestedProjects(tx: Tx, accounts: string[], since: string, limit: number): { id: string; slug: string }[] {
  const rows = accounts.flatMap((account) => listRequestedProjectsOfAccount(tx, account, since, limit))
  return rows.sort((a, b) => (a.last_request_at < b.last_request_at ? 1 : -1)).slice(0, limit)
}

const columns = expressionBuilder<Tables, 'projects'>()
const isIdle = columns('status', 'in', ['created', 'inactive']).$castTo<0 | 1>()
const usedAt = columns.fn<string>('max', [columns.fn.coalesce('last_request_at', columns.val('')), 'updated_at'])
const listUsedProjectsOfAccount = all((account: string, limit: number) =>
  tables
    .selectFrom('projects')
    .selectAll()
    .select([isIdle.as('is_idle'), usedAt.as('used_at')])
    .where('seq', 'in', (eb) =>
      eb
        .selectFrom('projects')
        .select('seq')
        .where('account_id', '=', account)
        .where('deleted_at', 'is', null)
        .orderBy(isIdle)
        .orderBy(usedAt, 'desc')
        .limit(limit),
    )
    .orderBy('is_idle')
    .orderBy('used_at', 'desc'),
)

/** Running, building and failing projects before idle ones, each group by last use or change; and the total number. */
export function listRecentlyUsedProjects(tx: Tx, accounts: string[], limit: number): { rows: ProjectRow[]; count: number } {
  const found = accounts.map((account) => ({ count: countProjects(tx, account), rows: listUsedProjectsOfAccount(tx, account, limit) }))
  const rows = found.flatMap((entry) => entry.rows)
  if (accounts.length > 1) rows.sort((a, b) => a.is_idle - b.is_idle || (a.used_at < b.used_at ? 1 : -1))
  return { rows: rows.slice(0, limit), count: found.reduce((sum, entry) => sum + entry.count, 0) }
}

const count = first((account: string) =>
  tables
    .selectFrom('projects')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('account_id', '=', account)
    .where('deleted_at', 'is', null),
)
export const countProjects = (tx: Tx, account: string): number => count(tx, account)?.n ?? 0

const idsOf = (rows: { id: string }[]): string[] => rows.map((row) => row.id)

const listUncached = all(() => tables.selectFrom('projects').select('id').where('caching_enabled', '=', 0).where('deleted_at', 'is', null))
/** Projects whose responses the edge must not cache. */
export const listProjectIdsWithoutCaching = (tx: Tx): string[] => idsOf(listUncached(tx))

const listAll = all(() => tables.selectFrom('projects').select('id').orderBy('seq'))
/** All projects, including those being deleted. */
export const listProjectIds = (tx: Tx): string[] => idsOf(listAll(tx))

const listConnected = all(() =>
  tables
    .selectFrom('projects')
    .select('id')
    .where('repo_url', 'is not', null)
    .where('deleted_at', 'is', null)
    .orderBy('last_request_at', (order) => order.desc().nullsLast())
    .orderBy('seq', 'desc'),
)
/** Projects with a repository, the most recently used first. */
export const listConnectedProjectIds = (tx: Tx): string[] => idsOf(listConnected(tx))

export function insertProject(tx: Tx, project: Insertable<Tables['projects']>): void {
  tx.run(tables.insertInto('projects').values(project))
}

export function updateProject(tx: Tx, id: string, change: Partial<Omit<ProjectRow, 'seq' | 'id'>>): void {
  if (Object.keys(change).length > 0) tx.run(tables.updateTable('projects').set(change).where('id', '=', id))
}

const readStatusFacts = first((id: string) =>
  tables
    .selectFrom('projects as p')
    .select(['p.status', 'p.stopped_at', 'p.crashed_at'])
    .select((eb) => {
      const production = eb.selectFrom('deployments as d').whereRef('d.project_id', '=', 'p.id').where('d.target', '=', 'production')
      return [
        eb.exists(production.select('d.seq').where('d.status', 'in', ['queued', 'building', 'deploying'])).as('in_flight'),
        eb.exists(production.select('d.seq').where('d.is_current', '=', 1)).as('serving'),
        production.select('d.status').where('d.status', 'in', ['ready', 'failed']).orderBy('d.seq', 'desc').limit(1).as('last'),
      ]
    })
    .where('p.id', '=', id),
)
const updateStatus = run((id: string, status: ProjectStatus, now: string) =>
  tables.updateTable('projects').set({ status, updated_at: now }).where('id', '=', id),
)

/** Recomputes `status` from the project's row and its production deployments, and stores it in the same transaction. */
export function recomputeProjectStatus(tx: Tx, id: string, now: string): ProjectStatus | undefined {
  const row = readStatusFacts(tx, id)
  if (!row) return undefined
  const status = deriveProjectStatus(row)
  if (status !== row.status) updateStatus(tx, id, status, now)
  return status
}

function deriveProjectStatus(facts: Omit<NonNullable<ReturnType<typeof readStatusFacts>>, 'status'>): ProjectStatus {
  if (facts.in_flight) return 'building'
  if (facts.crashed_at !== null) return 'crashed'
  if (facts.serving) return 'live'
  if (facts.stopped_at !== null) return 'inactive'
  return facts.last === 'failed' ? 'failed' : 'created'
}

/** The projects that answer now or at the next request, the most recently used first. */
export const listLiveProjects = all((limit: number) =>
  tables
    .selectFrom('projects')
    .select(['id', 'slug', 'name'])
    .where('deleted_at', 'is', null)
    .where('status', '=', 'live')
    .orderBy('last_request_at', (order) => order.desc().nullsLast())
    .orderBy('seq', 'desc')
    .limit(limit),
)

const listOfAccount = all((account: string) =>
  tables.selectFrom('projects').select('id').where('account_id', '=', account).where('deleted_at', 'is', null),
)
export const listProjectIdsOfAccount = (tx: Tx, account: string): string[] => idsOf(listOfAccount(tx, account))

/** The row of a project, even a deleted one that waits for its clean-up. */
export const findProjectOrDeleted = first((id: string) => tables.selectFrom('projects').selectAll().where('id', '=', id))

const recordProjectRequest = run((id: string, at: string) => tables.updateTable('projects').set({ last_request_at: at }).where('id', '=', id))
const recordPreviewRequest = run((host: string, at: string) => tables.updateTable('previews').set({ last_request_at: at }).where('host', '=', host))

/** Stores when apps last received a request: of projects by their id, of previews by their host name, which contains a dot. */
export function recordRequests(tx: Tx, lastRequests: ReadonlyMap<string, string>): void {
  for (const [id, at] of lastRequests) {
    const isPreview = id.includes('.')
    const row = isPreview ? findPreviewByHost(tx, id) : findProjectOrDeleted(tx, id)
    if (isPreview) recordPreviewRequest(tx, id, at)
    else recordProjectRequest(tx, id, at)
    // Shown are the first request, and the last one before an app fell asleep, which may be stored after that.
    if (row && (row.last_request_at === null || row.is_cold === 1))
      tx.publish({ type: 'project_changed', id: 'project_id' in row ? row.project_id : row.id })
  }
  tx.publish({ type: 'requests_recorded' })
}

export const countProjectsByStatus = all(() =>
  tables
    .selectFrom('projects')
    .select(['status', 'is_cold', (eb) => eb.fn.countAll<number>().as('count')])
    .where('deleted_at', 'is', null)
    .groupBy(['status', 'is_cold']),
)
