import type { ProjectStatus } from '../contract/projects.ts'
import type { Tx } from './store.ts'
import type { ProjectRow } from './tables.ts'

/** The project with this slug, unless it is deleted. The caller checks access. */
export function findProjectBySlug(tx: Tx, slug: string): ProjectRow | undefined {
  return tx.sqlFirst('SELECT * FROM projects WHERE slug = ? AND deleted_at IS NULL', slug)
}

export function findProject(tx: Tx, id: string): ProjectRow | undefined {
  return tx.sqlFirst('SELECT * FROM projects WHERE id = ? AND deleted_at IS NULL', id)
}

/** Newest first, from before `before` (a sequence number). One index walk per account, merged. */
export function listProjects(tx: Tx, options: { accounts: string[]; before: number | undefined; limit: number }): ProjectRow[] {
  const rows = options.accounts.flatMap((account) =>
    tx.sqlAll<ProjectRow>(
      'SELECT * FROM projects WHERE account_id = ? AND deleted_at IS NULL AND seq < ? ORDER BY seq DESC LIMIT ?',
      account,
      options.before ?? Number.MAX_SAFE_INTEGER,
      options.limit,
    ),
  )
  return options.accounts.length > 1 ? rows.sort((a, b) => b.seq - a.seq).slice(0, options.limit) : rows
}

/** The searchable columns of every project of an account, newest first. */
export function listSearchableProjects(tx: Tx, account: string): Pick<ProjectRow, 'seq' | 'name' | 'slug' | 'repo_url'>[] {
  return tx.sqlAll('SELECT seq, name, slug, repo_url FROM projects WHERE account_id = ? AND deleted_at IS NULL ORDER BY seq DESC', account)
}

export function findProjectBySeq(tx: Tx, seq: number): ProjectRow | undefined {
  return tx.sqlFirst('SELECT * FROM projects WHERE seq = ?', seq)
}

/** Projects that received a request since a time, the most recent first. */
export function listRecentlyRequestedProjects(tx: Tx, accounts: string[], since: string, limit: number): { id: string; slug: string }[] {
  const rows = accounts.flatMap((account) =>
    tx.sqlAll<{ id: string; slug: string; last_request_at: string }>(
      `SELECT id, slug, last_request_at FROM projects WHERE account_id = ? AND deleted_at IS NULL AND last_request_at >= ?
       ORDER BY last_request_at DESC LIMIT ?`,
      account,
      since,
      limit,
    ),
  )
  return rows.sort((a, b) => (a.last_request_at < b.last_request_at ? 1 : -1)).slice(0, limit)
}

/** Running, building and failing projects before idle ones, each group by last use or change; and the total number. */
export function listRecentlyUsedProjects(tx: Tx, accounts: string[], limit: number): { rows: ProjectRow[]; count: number } {
  const found = accounts.map((account) => ({
    count: countProjects(tx, account),
    rows: tx.sqlAll<ProjectRow & { is_idle: number; used_at: string }>(
      `SELECT *, status IN ('created', 'inactive') AS is_idle, max(coalesce(last_request_at, ''), updated_at) AS used_at
       FROM projects WHERE seq IN (
         SELECT seq FROM projects WHERE account_id = ? AND deleted_at IS NULL
         ORDER BY status IN ('created', 'inactive'), max(coalesce(last_request_at, ''), updated_at) DESC LIMIT ?
       ) ORDER BY is_idle, used_at DESC`,
      account,
      limit,
    ),
  }))
  const rows = found.flatMap((entry) => entry.rows)
  if (accounts.length > 1) rows.sort((a, b) => a.is_idle - b.is_idle || (a.used_at < b.used_at ? 1 : -1))
  return { rows: rows.slice(0, limit), count: found.reduce((sum, entry) => sum + entry.count, 0) }
}

export function countProjects(tx: Tx, accountId: string): number {
  return tx.sqlFirst<{ n: number }>('SELECT count(*) AS n FROM projects WHERE account_id = ? AND deleted_at IS NULL', accountId)?.n ?? 0
}

/** Projects whose responses the edge must not cache. */
export function listProjectIdsWithoutCaching(tx: Tx): string[] {
  return tx.sqlAll<{ id: string }>('SELECT id FROM projects WHERE caching_enabled = 0 AND deleted_at IS NULL').map((row) => row.id)
}

/** All projects, including those being deleted. */
export function listProjectIds(tx: Tx): string[] {
  return tx.sqlAll<{ id: string }>('SELECT id FROM projects ORDER BY seq').map((row) => row.id)
}

/** Projects with a repository, the most recently used first. */
export function listConnectedProjectIds(tx: Tx): string[] {
  return tx
    .sqlAll<{ id: string }>(
      'SELECT id FROM projects WHERE repo_url IS NOT NULL AND deleted_at IS NULL ORDER BY last_request_at DESC NULLS LAST, seq DESC',
    )
    .map((row) => row.id)
}

export function insertProject(tx: Tx, project: Omit<ProjectRow, 'seq'>): void {
  tx.run(tx.query.insertInto('projects').values(project))
}

export function updateProject(tx: Tx, id: string, change: Partial<Omit<ProjectRow, 'seq' | 'id'>>): void {
  if (Object.keys(change).length > 0) tx.run(tx.query.updateTable('projects').set(change).where('id', '=', id))
}

/** Recomputes `status` from the project's row and its production deployments, and stores it in the same transaction. */
export function recomputeProjectStatus(tx: Tx, id: string, now: string): ProjectStatus | undefined {
  const row = tx.sqlFirst<{
    status: ProjectStatus
    stopped_at: string | null
    crashed_at: string | null
    in_flight: number
    serving: number
    last: string | null
  }>(
    `SELECT status, stopped_at, crashed_at,
       EXISTS (SELECT 1 FROM deployments d WHERE d.status IN ('queued', 'building', 'deploying') AND d.project_id = p.id AND d.target = 'production') AS in_flight,
       EXISTS (SELECT 1 FROM deployments d WHERE d.project_id = p.id AND d.is_current = 1 AND d.target = 'production') AS serving,
       (SELECT d.status FROM deployments d WHERE d.project_id = p.id AND d.target = 'production' AND d.status IN ('ready', 'failed') ORDER BY d.seq DESC LIMIT 1) AS last
     FROM projects p WHERE id = ?`,
    id,
  )
  if (!row) return undefined
  const status = deriveProjectStatus(row)
  if (status !== row.status) tx.sqlRun('UPDATE projects SET status = ?, updated_at = ? WHERE id = ?', status, now, id)
  return status
}

function deriveProjectStatus(facts: {
  stopped_at: string | null
  crashed_at: string | null
  in_flight: number
  serving: number
  last: string | null
}): ProjectStatus {
  if (facts.in_flight) return 'building'
  if (facts.crashed_at !== null) return 'crashed'
  if (facts.serving) return 'live'
  if (facts.stopped_at !== null) return 'inactive'
  return facts.last === 'failed' ? 'failed' : 'created'
}

/** The projects that answer now or at the next request, the most recently used first. */
export function listLiveProjects(tx: Tx, limit: number): Pick<ProjectRow, 'id' | 'slug' | 'name'>[] {
  return tx.sqlAll(
    `SELECT id, slug, name FROM projects WHERE deleted_at IS NULL AND status = 'live' ORDER BY last_request_at DESC NULLS LAST, seq DESC LIMIT ?`,
    limit,
  )
}

export function listProjectIdsOfAccount(tx: Tx, accountId: string): string[] {
  return tx.sqlAll<{ id: string }>('SELECT id FROM projects WHERE account_id = ? AND deleted_at IS NULL', accountId).map((row) => row.id)
}

/** The row of a project even when it was deleted and waits to be cleaned up. */
export function findProjectOrDeleted(tx: Tx, id: string): ProjectRow | undefined {
  return tx.sqlFirst('SELECT * FROM projects WHERE id = ?', id)
}

/** Stores when apps last received a request: of projects by their id, of previews by their host name, which contains a dot. */
export function recordRequests(tx: Tx, lastRequests: ReadonlyMap<string, string>): void {
  for (const [id, at] of lastRequests) {
    if (id.includes('.')) tx.sqlRun('UPDATE previews SET last_request_at = ? WHERE host = ?', at, id)
    else tx.sqlRun('UPDATE projects SET last_request_at = ? WHERE id = ?', at, id)
  }
  tx.publish({ type: 'requests_recorded' })
}
