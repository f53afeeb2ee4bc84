import type { DeploymentStatus, DeploymentTarget, StepName, StepStatus } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { Tx } from './store.ts'
import type { DeploymentRow, DeploymentStepRow } from './tables.ts'

export function findDeployment(tx: Tx, projectId: string, id: string): DeploymentRow | undefined {
  return tx.sqlFirst('SELECT * FROM deployments WHERE id = ? AND project_id = ?', id, projectId)
}

export function findDeploymentById(tx: Tx, id: string): DeploymentRow | undefined {
  return tx.sqlFirst('SELECT * FROM deployments WHERE id = ?', id)
}

export const hasDeployment = (tx: Tx, id: string): boolean => tx.sqlFirst('SELECT 1 AS one FROM deployments WHERE id = ?', id) !== undefined

export interface DeploymentFilter {
  target?: DeploymentTarget | undefined
  branch?: string | undefined
  status?: DeploymentStatus | undefined
}

export function listDeployments(
  tx: Tx,
  options: { project_id: string; before: number | undefined; limit: number } & DeploymentFilter,
): DeploymentRow[] {
  if (options.target === undefined && options.branch === undefined && options.status === undefined)
    return tx.sqlAll(
      'SELECT * FROM deployments WHERE project_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
      options.project_id,
      options.before ?? Number.MAX_SAFE_INTEGER,
      options.limit,
    )
  let query = tx.query.selectFrom('deployments').selectAll().where('project_id', '=', options.project_id)
  if (options.before !== undefined) query = query.where('seq', '<', options.before)
  if (options.target !== undefined) query = query.where('target', '=', options.target)
  if (options.branch !== undefined) query = query.where('branch', '=', options.branch)
  if (options.status !== undefined) query = query.where('status', '=', options.status)
  return tx.all(query.orderBy('seq', 'desc').limit(options.limit))
}

export function insertDeployment(tx: Tx, deployment: Omit<DeploymentRow, 'seq'>, steps: readonly StepName[]): void {
  tx.run(tx.query.insertInto('deployments').values(deployment))
  for (const [position, name] of steps.entries())
    tx.sqlRun("INSERT INTO deployment_steps (deployment_id, position, name, status) VALUES (?, ?, ?, 'pending')", deployment.id, position, name)
}

export function updateDeployment(tx: Tx, id: string, change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>>): void {
  if (Object.keys(change).length > 0) tx.run(tx.query.updateTable('deployments').set(change).where('id', '=', id))
}

/** Compare-and-swap of the status; false if the status was no longer one of `from`. */
export function compareAndSwapStatus(
  tx: Tx,
  id: string,
  from: readonly DeploymentStatus[],
  to: DeploymentStatus,
  change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>> = {},
): boolean {
  return (
    tx.run(
      tx.query
        .updateTable('deployments')
        .set({ ...change, status: to })
        .where('id', '=', id)
        .where('status', 'in', from),
    ) === 1
  )
}

/** Queued deployments of the same slot, which a newer one replaces. */
export function listQueuedInSlot(tx: Tx, slot: DeploymentSlot): DeploymentRow[] {
  return listOpenDeployments(tx, slot.project_id).filter((row) => row.status === 'queued' && slotKey(row) === slotKey(slot))
}

export interface ClaimLimits {
  /** Concurrent builds on the instance. */
  total: number
  /** Concurrent builds of one account, by its plan. */
  perAccount: (accountId: string) => number
  /** Runtimes that are available now. Deployments of other runtimes stay queued. */
  runtimes: readonly string[]
}

/**
 * Claims the oldest queued deployment that may run now, production before previews: one at a time per project and branch, within the limits. Runs
 * inside one write transaction, so two workers never claim the same one.
 */
export function claimOldestQueued(tx: Tx, limits: ClaimLimits, change: (row: DeploymentRow) => Partial<DeploymentRow>): DeploymentRow | undefined {
  const running = tx.sqlAll<{ project_id: string; target: string; branch: string | null; account_id: string }>(
    "SELECT d.project_id, d.target, d.branch, p.account_id FROM deployments d JOIN projects p ON p.id = d.project_id WHERE d.status IN ('building', 'deploying')",
  )
  if (running.length >= limits.total) return undefined
  const busySlots = new Set(running.map(slotKey))
  const perAccount = new Map<string, number>()
  for (const row of running) perAccount.set(row.account_id, (perAccount.get(row.account_id) ?? 0) + 1)

  // Production first, so that many pushed branches do not delay it.
  for (const target of ['production', 'preview'] as const)
    for (let lastSeq = 0; ;) {
      const candidates = tx.sqlAll<DeploymentRow & { account_id: string }>(
        `SELECT d.*, p.account_id FROM deployments d JOIN projects p ON p.id = d.project_id
         WHERE d.status = 'queued' AND d.target = ? AND d.seq > ? ORDER BY d.seq LIMIT 50`,
        target,
        lastSeq,
      )
      if (candidates.length === 0) break
      for (const { account_id, ...row } of candidates) {
        lastSeq = row.seq
        if (
          !limits.runtimes.includes(row.runtime) ||
          busySlots.has(slotKey(row)) ||
          (perAccount.get(account_id) ?? 0) >= limits.perAccount(account_id)
        )
          continue
        const claimed: DeploymentRow = { ...row, ...change(row), status: 'building' }
        const { seq: _, id: __, status: ___, ...rest } = claimed
        return compareAndSwapStatus(tx, row.id, ['queued'], 'building', rest) ? claimed : undefined
      }
    }
  return undefined
}

interface DeploymentSlot {
  project_id: string
  target: string
  branch: string | null
}

/** One deployment at a time per project and branch. Production is one slot for all branches. */
const slotKey = (row: DeploymentSlot): string => `${row.project_id}\0${row.target === 'production' ? '' : (row.branch ?? '')}\0${row.target}`

/** 1 for the next deployment. */
export function readQueuePosition(tx: Tx, { seq, target }: Pick<DeploymentRow, 'seq' | 'target'>): number {
  const before = target === 'production' ? "target = 'production' AND seq <= ?" : "(target = 'production' OR seq <= ?)"
  return tx.sqlFirst<{ n: number }>(`SELECT count(*) AS n FROM deployments WHERE status = 'queued' AND ${before}`, seq)?.n ?? 1
}

/** Deployments that were in progress when the platform ended. */
export function listInterruptedDeployments(tx: Tx): DeploymentRow[] {
  return tx.sqlAll("SELECT * FROM deployments WHERE status IN ('building', 'deploying') ORDER BY seq")
}

export function listOpenDeployments(tx: Tx, projectId: string): DeploymentRow[] {
  return tx.sqlAll("SELECT * FROM deployments WHERE status IN ('queued', 'building', 'deploying') AND project_id = ? ORDER BY seq", projectId)
}

/** The number of open deployments of these accounts. Uses two small indexes, never the whole table. */
export function countOpenDeployments(tx: Tx, accounts: string[]): number {
  const rows = tx.sqlAll<{ account_id: string }>(
    `SELECT p.account_id FROM deployments d JOIN projects p ON p.id = d.project_id WHERE d.status = 'queued'
     UNION ALL SELECT p.account_id FROM deployments d JOIN projects p ON p.id = d.project_id WHERE d.status IN ('building', 'deploying')`,
  )
  return rows.filter((row) => accounts.includes(row.account_id)).length
}

/** The deployment that served production last, or that could have. */
export function findLastReadyDeployment(tx: Tx, projectId: string): DeploymentRow | undefined {
  return tx.sqlFirst(
    "SELECT * FROM deployments WHERE project_id = ? AND target = 'production' AND status = 'ready' ORDER BY is_current DESC, seq DESC LIMIT 1",
    projectId,
  )
}

/** The deployments that are serving now, of all projects or of one. */
export function listCurrentDeployments(tx: Tx, projectId?: string): DeploymentRow[] {
  return projectId === undefined
    ? tx.sqlAll('SELECT * FROM deployments WHERE is_current = 1')
    : tx.sqlAll('SELECT * FROM deployments WHERE is_current = 1 AND project_id = ?', projectId)
}

/** The project's production deployment that is serving now. */
export function findCurrentProductionDeployment(tx: Tx, projectId: string): DeploymentRow | undefined {
  return tx.sqlFirst("SELECT * FROM deployments WHERE project_id = ? AND is_current = 1 AND target = 'production'", projectId)
}

/**
 * The deployment that a redeployment of production is based on: the open one, else the current one, else the latest. Undefined for a stopped project.
 */
export function findRedeployBase(tx: Tx, projectId: string): DeploymentRow | undefined {
  return tx.sqlFirst(
    `SELECT d.* FROM deployments d JOIN projects p ON p.id = d.project_id
     WHERE d.project_id = ? AND d.target = 'production' AND d.status <> 'canceled' AND p.stopped_at IS NULL
     ORDER BY d.status IN ('queued', 'building', 'deploying') DESC, d.is_current DESC, d.seq DESC LIMIT 1`,
    projectId,
  )
}

export function findCurrentDeployment(tx: Tx, projectId: string, target: DeploymentTarget, branch: string | null): DeploymentRow | undefined {
  return listCurrentDeployments(tx, projectId).find((row) => row.target === target && (target === 'production' || row.branch === branch))
}

/** The latest deployment of a branch of the repository. */
export function findLatestBranchDeployment(tx: Tx, projectId: string, target: DeploymentTarget, branch: string): DeploymentRow | undefined {
  return tx.sqlFirst(
    "SELECT * FROM deployments WHERE project_id = ? AND target = ? AND branch = ? AND source = 'git' ORDER BY seq DESC LIMIT 1",
    projectId,
    target,
    branch,
  )
}

/** All deployments of a preview, newest first. */
export function listPreviewDeployments(tx: Tx, projectId: string, branch: string): DeploymentRow[] {
  return tx.sqlAll("SELECT * FROM deployments WHERE project_id = ? AND target = 'preview' AND branch = ? ORDER BY seq DESC", projectId, branch)
}

export interface RetentionRow extends Pick<DeploymentRow, 'id' | 'status' | 'target' | 'branch' | 'is_current' | 'artifact' | 'source' | 'runtime'> {
  is_open: 0 | 1
  has_artifact: 0 | 1
  /** The id under which its source is kept, if it is kept. */
  source_id: string
}

/**
 * The deployments of a project that the retention rule needs, newest first, and the branches with an open preview. For a large project (200,000 rows
 * would block the database for seconds), only those with an artifact, the open and current ones, and the `newest` finished and the `newest` ready
 * ones.
 */
export function listRetentionCandidates(tx: Tx, projectId: string, newest: number): { rows: RetentionRow[]; branches: Set<string> } {
  const branches = tx.sqlAll<{ branch: string }>('SELECT branch FROM previews WHERE project_id = ?', projectId)
  const isLarge = tx.sqlFirst('SELECT seq FROM deployments WHERE project_id = ? ORDER BY seq LIMIT 1 OFFSET 100', projectId) !== undefined
  const rows = tx.sqlAll<RetentionRow>(
    `SELECT id, status, target, branch, is_current, artifact, source, runtime, status IN ('queued', 'building', 'deploying') AS is_open,
       artifact IS NOT NULL AS has_artifact, coalesce(json_extract(source_request, '$.of'), id) AS source_id
     FROM deployments WHERE ${isLarge ? `seq IN (${retentionSubsetSql})` : 'project_id = :project'} ORDER BY seq DESC`,
    isLarge ? { project: projectId, newest } : { project: projectId },
  )
  return { rows, branches: new Set(branches.map((row) => row.branch)) }
}

/** Every part uses an index. The plus sign selects the index of previews; with that of the project, all of its deployments would be scanned. */
const retentionSubsetSql = `
  SELECT seq FROM deployments WHERE project_id = :project AND artifact IS NOT NULL
  UNION ALL SELECT seq FROM deployments WHERE project_id = :project AND status IN ('queued', 'building', 'deploying')
  UNION ALL SELECT seq FROM deployments INDEXED BY deployments_production WHERE project_id = :project AND is_current = 1 AND target = 'production'
  UNION ALL SELECT seq FROM deployments INDEXED BY deployments_preview WHERE project_id = :project AND is_current = 1 AND target = 'preview'
  ${["status NOT IN ('queued', 'building', 'deploying')", "status = 'ready'"]
    .map(
      (status) => `
  UNION ALL SELECT * FROM (
    SELECT seq FROM deployments WHERE project_id = :project AND target = 'production' AND ${status} ORDER BY seq DESC LIMIT :newest)
  UNION ALL SELECT * FROM (
    SELECT seq FROM deployments WHERE project_id = :project AND target = 'preview' AND ${status}
      AND branch IN (SELECT branch FROM previews WHERE project_id = :project) ORDER BY +seq DESC LIMIT :newest)`,
    )
    .join('')}`

/** The ids that are deployments of the project. */
export function filterKnownDeploymentIds(tx: Tx, projectId: string, ids: readonly string[]): Set<string> {
  const sql = 'SELECT id FROM deployments WHERE project_id = ? AND id IN (SELECT value FROM json_each(?))'
  return new Set(tx.sqlAll<{ id: string }>(sql, projectId, JSON.stringify(ids)).map((row) => row.id))
}

/** The number of deployments that use this artifact. A rollback shares it. */
export function countArtifactReferences(tx: Tx, projectId: string, artifact: string): number {
  return tx.sqlFirst<{ n: number }>('SELECT count(*) AS n FROM deployments WHERE project_id = ? AND artifact = ?', projectId, artifact)?.n ?? 0
}

export function listSteps(tx: Tx, deploymentId: string): DeploymentStepRow[] {
  return tx.sqlAll('SELECT * FROM deployment_steps WHERE deployment_id = ? ORDER BY position', deploymentId)
}

export function updateStep(
  tx: Tx,
  deploymentId: string,
  name: StepName,
  change: { status: StepStatus; started_at?: string; finished_at?: string },
): void {
  tx.run(tx.query.updateTable('deployment_steps').set(change).where('deployment_id', '=', deploymentId).where('name', '=', name))
}

export function resetSteps(tx: Tx, deploymentId: string): void {
  tx.sqlRun("UPDATE deployment_steps SET status = 'pending', started_at = NULL, finished_at = NULL WHERE deployment_id = ?", deploymentId)
}

/** Ends the steps of a deployment that failed or was canceled. */
export function finishSteps(tx: Tx, deploymentId: string, to: 'failed' | 'canceled', now: string): void {
  tx.sqlRun("UPDATE deployment_steps SET status = ?, finished_at = ? WHERE deployment_id = ? AND status = 'running'", to, now, deploymentId)
  tx.sqlRun("UPDATE deployment_steps SET status = 'skipped' WHERE deployment_id = ? AND status = 'pending'", deploymentId)
}

export function listEnvVarsForTarget(
  tx: Tx,
  projectId: string,
  target: DeploymentTarget,
): { id: string; key: string; sealed_value: Uint8Array; environment: string | null }[] {
  return tx.sqlAll(
    'SELECT id, key, sealed_value, environment FROM env_vars WHERE project_id = ? AND (environment IS NULL OR environment = ?) ORDER BY environment IS NOT NULL, key',
    projectId,
    target,
  )
}

export interface CleanupRow {
  seq: number
  work: string
}

/** Work that must be completed even after a restart. It is written in the transaction that makes it due and deleted when it is done. */
export function insertCleanup(tx: Tx, work: object, now: string): number {
  return tx.sqlFirst<{ seq: number }>('INSERT INTO cleanups (work, created_at) VALUES (?, ?) RETURNING seq', JSON.stringify(work), now)?.seq ?? 0
}
export function listCleanups(tx: Tx): CleanupRow[] {
  return tx.sqlAll('SELECT seq, work FROM cleanups ORDER BY seq')
}
export function deleteCleanup(tx: Tx, seq: number): void {
  tx.sqlRun('DELETE FROM cleanups WHERE seq = ?', seq)
}

/** Deletes all rows of a removed project, once nothing of it remains outside the database. */
export function deleteProjectRows(tx: Tx, projectId: string): string[] {
  const deployments = tx.sqlAll<{ id: string }>('SELECT id FROM deployments WHERE project_id = ?', projectId).map((row) => row.id)
  tx.sqlRun('DELETE FROM screenshots WHERE deployment_id IN (SELECT id FROM deployments WHERE project_id = ?)', projectId)
  tx.sqlRun('DELETE FROM deployments WHERE project_id = ?', projectId)
  tx.sqlRun('DELETE FROM env_vars WHERE project_id = ?', projectId)
  for (const table of ['purge_tokens', 'cache_events', 'domains', 'watches', 'branches', 'previews'])
    tx.sqlRun(`DELETE FROM ${table} WHERE project_id = ?`, projectId)
  tx.sqlRun('DELETE FROM projects WHERE id = ?', projectId)
  return deployments
}

/** All deployments of a project, without what they were built from and to. */
export function listDeploymentsOfProject(tx: Tx, projectId: string): Pick<DeploymentRow, 'id' | 'project_id' | 'target' | 'branch' | 'runtime'>[] {
  return tx.sqlAll('SELECT id, project_id, target, branch, runtime FROM deployments WHERE project_id = ?', projectId)
}

/** The runtimes that queued deployments wait for. */
export function listQueuedRuntimes(tx: Tx): RuntimeName[] {
  return tx.sqlAll<{ runtime: RuntimeName }>("SELECT DISTINCT runtime FROM deployments WHERE status = 'queued'").map((row) => row.runtime)
}

export function hasArtifacts(tx: Tx, runtime: RuntimeName): boolean {
  return tx.sqlFirst('SELECT 1 AS one FROM deployments WHERE runtime = ? AND artifact IS NOT NULL', runtime) !== undefined
}

/** The ids that a log may belong to. */
export function listLogOwnerIds(tx: Tx): string[] {
  return tx.sqlAll<{ id: string }>('SELECT id FROM deployments UNION SELECT id FROM projects').map((row) => row.id)
}
