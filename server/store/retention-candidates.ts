import { all, exists, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { DeploymentRow } from './tables.ts'

export interface RetentionRow extends Pick<DeploymentRow, 'id' | 'status' | 'target' | 'branch' | 'is_current' | 'artifact' | 'source' | 'runtime'> {
  is_open: 0 | 1
  has_artifact: 0 | 1
  /** The id under which its source is kept, if it is kept. */
  source_id: string
}

const listPreviewBranches = all((projectId: string) => tables.selectFrom('previews').select('branch').where('project_id', '=', projectId))
const isLargeProject = exists((projectId: string) =>
  tables.selectFrom('deployments').select('seq').where('project_id', '=', projectId).orderBy('seq').limit(1).offset(100),
)

/**
 * The deployments of a project that the retention rule needs, newest first, and the branches with an open preview. For a large project (200,000 rows
 * would block the database for seconds), only those with an artifact, the open and current ones, and the `newest` finished and the `newest` ready
 * ones.
 */
export function listRetentionCandidates(tx: Tx, projectId: string, newest: number): { rows: RetentionRow[]; branches: Set<string> } {
  const branches = listPreviewBranches(tx, projectId)
  const isLarge = isLargeProject(tx, projectId)
  const rows = tx
    .statement(
      `SELECT id, status, target, branch, is_current, artifact, source, runtime, status IN ('queued', 'building', 'deploying') AS is_open,
         artifact IS NOT NULL AS has_artifact, coalesce(json_extract(source_request, '$.of'), id) AS source_id
       FROM deployments WHERE ${isLarge ? `seq IN (${retentionSubsetSql})` : 'project_id = :project'} ORDER BY seq DESC`,
    )
    .all(isLarge ? { project: projectId, newest } : { project: projectId }) as RetentionRow[]
  return { rows, branches: new Set(branches.map((row) => row.branch)) }
}

/**
 * Raw SQL, because kysely has no INDEXED BY. Every part uses an index. The plus sign selects the index of previews; with that of the project, all of
 * its deployments would be scanned.
 */
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
