import type { DeploymentStatus } from '../contract/deployments.ts'
import { createHostLabels } from '../lib/branch-label.ts'
import type { Tx } from './store.ts'
import type { PreviewRow, WatchRow } from './tables.ts'

/** The watch settings of a project, or the defaults. */
export function findWatch(tx: Tx, projectId: string): WatchRow {
  const row = tx.sqlFirst<WatchRow>('SELECT * FROM watches WHERE project_id = ?', projectId)
  return row ?? { project_id: projectId, deploys_pushes: 1, previews: 1, preview_databases: 0, repo_url: null, checked_at: null, message: null }
}

export function updateWatch(tx: Tx, projectId: string, change: Partial<Omit<WatchRow, 'project_id'>>): void {
  tx.sqlRun('INSERT OR IGNORE INTO watches (project_id) VALUES (?)', projectId)
  if (Object.keys(change).length > 0) tx.run(tx.query.updateTable('watches').set(change).where('project_id', '=', projectId))
}

/** The commit of each branch as of the last check. */
export function readBranchHeads(tx: Tx, projectId: string): Map<string, string> {
  const rows = tx.sqlAll<{ branch: string; commit_sha: string }>('SELECT branch, commit_sha FROM branches WHERE project_id = ?', projectId)
  return new Map(rows.map((row) => [row.branch, row.commit_sha]))
}

export function upsertBranchHead(tx: Tx, projectId: string, branch: string, sha: string): void {
  tx.sqlRun('INSERT OR REPLACE INTO branches (project_id, branch, commit_sha) VALUES (?, ?, ?)', projectId, branch, sha)
}

/** Without `branch`: all branches of the project. */
export function deleteBranchHeads(tx: Tx, projectId: string, branch?: string): void {
  if (branch === undefined) tx.sqlRun('DELETE FROM branches WHERE project_id = ?', projectId)
  else tx.sqlRun('DELETE FROM branches WHERE project_id = ? AND branch = ?', projectId, branch)
}

export function findPreview(tx: Tx, projectId: string, branch: string): PreviewRow | undefined {
  return tx.sqlFirst('SELECT * FROM previews WHERE project_id = ? AND branch = ?', projectId, branch)
}

export function findPreviewByHost(tx: Tx, host: string): PreviewRow | undefined {
  return tx.sqlFirst('SELECT * FROM previews WHERE host = ?', host)
}

export function listOpenPreviews(tx: Tx, projectId: string): PreviewRow[] {
  return tx.sqlAll('SELECT * FROM previews WHERE project_id = ? ORDER BY branch', projectId)
}

/** The preview of a branch. If there is none, creates it with a unique host name. */
export function upsertPreview(tx: Tx, project: { id: string; slug: string }, branch: string, now: string): PreviewRow {
  const found = findPreview(tx, project.id, branch)
  if (found) {
    tx.sqlRun('UPDATE previews SET updated_at = ? WHERE project_id = ? AND branch = ?', now, project.id, branch)
    return { ...found, updated_at: now }
  }
  const names = createHostLabels(branch, project.slug).map((label) => `${label}.localhost`)
  const host = names.find((name) => findPreviewByHost(tx, name) === undefined)
  if (host === undefined) throw new Error(`No host name is available for a branch preview of ${project.slug}.`)
  const row: PreviewRow = { project_id: project.id, branch, host, is_cold: 0, last_request_at: null, created_at: now, updated_at: now }
  tx.run(tx.query.insertInto('previews').values(row))
  return row
}

export function updatePreview(tx: Tx, projectId: string, branch: string, change: Partial<Pick<PreviewRow, 'is_cold' | 'updated_at'>>): void {
  tx.run(tx.query.updateTable('previews').set(change).where('project_id', '=', projectId).where('branch', '=', branch))
}

export function deletePreview(tx: Tx, projectId: string, branch: string): void {
  tx.sqlRun('DELETE FROM previews WHERE project_id = ? AND branch = ?', projectId, branch)
}

/** Resets the previews of a stopped project, so that they are deployed again when the project resumes. */
export function resetPreviews(tx: Tx, projectId: string): void {
  tx.sqlRun('DELETE FROM branches WHERE project_id = ? AND branch IN (SELECT branch FROM previews WHERE project_id = ?)', projectId, projectId)
  tx.sqlRun('UPDATE previews SET is_cold = 0 WHERE project_id = ?', projectId)
}

/** The status of an open preview, for its status page; undefined if it is closed. */
export function readPreviewStatus(
  tx: Tx,
  projectId: string,
  branch: string,
): { is_serving: boolean; is_building: boolean; status: DeploymentStatus } | undefined {
  if (!findPreview(tx, projectId, branch)) return undefined
  const rows = tx.sqlAll<{ status: DeploymentStatus; is_current: 0 | 1 }>(
    `SELECT status, is_current FROM deployments WHERE project_id = ? AND target = 'preview' AND branch = ? AND (is_current = 1 OR status IN ('queued', 'building', 'deploying')
       OR seq = (SELECT max(seq) FROM deployments n WHERE n.project_id = ? AND n.target = 'preview' AND n.branch = ?)) ORDER BY seq DESC`,
    projectId,
    branch,
    projectId,
    branch,
  )
  return {
    is_serving: rows.some((row) => row.is_current === 1 || row.status === 'deploying'),
    is_building: rows.some((row) => row.status === 'queued' || row.status === 'building'),
    status: rows[0]?.status ?? 'canceled',
  }
}

export interface PreviewSummaryRow extends PreviewRow {
  /** The deployment that serves the preview, else the newest. */
  deployment_id: string
  commit_sha: string | null
  commit_message: string | null
  /** The status of the newest deployment. */
  status: DeploymentStatus
  was_ready: 0 | 1
}

/** Open previews with their deployments, the most recently changed first. */
export function listPreviewSummaries(tx: Tx, projectId: string): PreviewSummaryRow[] {
  return tx.sqlAll(
    `SELECT p.*, s.id AS deployment_id, s.commit_sha, s.commit_message, n.status,
       EXISTS (SELECT 1 FROM deployments r WHERE r.project_id = p.project_id AND r.target = 'preview' AND r.branch = p.branch
         AND r.status = 'ready' AND r.created_at >= p.created_at) AS was_ready
     FROM previews p
     JOIN deployments n ON n.seq = (SELECT max(seq) FROM deployments d WHERE d.project_id = p.project_id AND d.target = 'preview' AND d.branch = p.branch)
     JOIN deployments s ON s.seq = (SELECT d.seq FROM deployments d WHERE d.project_id = p.project_id AND d.target = 'preview' AND d.branch = p.branch
       ORDER BY d.is_current DESC, d.seq DESC LIMIT 1)
     WHERE p.project_id = ? ORDER BY p.updated_at DESC, n.seq DESC`,
    projectId,
  )
}
