import type { DeploymentTarget } from '../contract/deployments.ts'
import type { ScreenshotVariant } from '../contract/previews.ts'
import type { Db, Tx } from './store.ts'

/** A current deployment, as far as its screenshots are concerned. */
export interface ScreenshotTargetRow {
  deployment_id: string
  project_id: string
  target: DeploymentTarget
  branch: string | null
  url: string
  taken: ScreenshotVariant[]
}

export const listScreenshots = (tx: Tx, deploymentId: string): ScreenshotVariant[] =>
  tx.sqlAll<{ variant: ScreenshotVariant }>('SELECT variant FROM screenshots WHERE deployment_id = ?', deploymentId).map((row) => row.variant)

/** Stores which screenshots exist; their files are elsewhere. */
export function createScreenshotStore(db: Db) {
  const currentSql = `SELECT d.id AS deployment_id, d.project_id, d.target, d.branch, d.url FROM deployments d JOIN projects p ON p.id = d.project_id
    WHERE d.is_current = 1 AND d.status = 'ready' AND d.url IS NOT NULL AND p.deleted_at IS NULL`
  const withTaken = (tx: Tx, row: Omit<ScreenshotTargetRow, 'taken'>): ScreenshotTargetRow => ({
    ...row,
    taken: listScreenshots(tx, row.deployment_id),
  })

  return {
    /** undefined: the deployment is not serving. */
    find: (deploymentId: string) =>
      db.read((tx) => {
        const row = tx.sqlFirst<Omit<ScreenshotTargetRow, 'taken'>>(`${currentSql} AND d.id = ?`, deploymentId)
        return row && withTaken(tx, row)
      }),
    listCurrent: () =>
      db.read((tx) => tx.sqlAll<Omit<ScreenshotTargetRow, 'taken'>>(`${currentSql} ORDER BY d.seq DESC`).map((row) => withTaken(tx, row))),
    isDeploying: () =>
      db.read((tx) => tx.sqlFirst("SELECT 1 AS one FROM deployments WHERE status IN ('building', 'deploying') LIMIT 1") !== undefined),
    /** False if the deployment is no longer serving; the screenshot is then not stored. */
    insert: (row: { deployment_id: string; variant: ScreenshotVariant; bytes: number; created_at: string }) =>
      db.write((tx) => {
        if (tx.sqlFirst(`${currentSql} AND d.id = ?`, row.deployment_id) === undefined) return false
        tx.sqlRun('DELETE FROM screenshots WHERE deployment_id = ? AND variant = ?', row.deployment_id, row.variant)
        tx.run(tx.query.insertInto('screenshots').values(row))
        tx.publish({ type: 'deployment_changed', id: row.deployment_id })
        return true
      }),
    list: () =>
      db.read((tx) =>
        tx.sqlAll<{ project_id: string; deployment_id: string; variant: ScreenshotVariant }>(
          'SELECT d.project_id, s.deployment_id, s.variant FROM screenshots s JOIN deployments d ON d.id = s.deployment_id',
        ),
      ),
    remove: (deploymentId: string, variant: ScreenshotVariant) =>
      db.write((tx) => void tx.sqlRun('DELETE FROM screenshots WHERE deployment_id = ? AND variant = ?', deploymentId, variant)),
    /** Deletes the rows of a deployment, or of all deployments of a project. */
    forget: (owner: { deployment_id: string } | { project_id: string }) =>
      db.write((tx) => {
        if ('deployment_id' in owner) tx.sqlRun('DELETE FROM screenshots WHERE deployment_id = ?', owner.deployment_id)
        else tx.sqlRun('DELETE FROM screenshots WHERE deployment_id IN (SELECT id FROM deployments WHERE project_id = ?)', owner.project_id)
      }),
  }
}

export type ScreenshotStore = ReturnType<typeof createScreenshotStore>
