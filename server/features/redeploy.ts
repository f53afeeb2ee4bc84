import { findRedeployBase } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** Throws before a change that would redeploy the project, if deployments are not allowed. */
export function requireRedeployable(tx: Tx, { deployments }: FeatureDeps, project: ProjectRow): void {
  if (findRedeployBase(tx, project.id)) deployments.requireIsolation(tx, project)
}

/**
 * Redeploys the current production version with the current variables, in the transaction that changes them. Returns the ID of the new
 * deployment, or undefined for a project that never ran or is stopped.
 */
export function redeployInTransaction(tx: Tx, { deployments }: FeatureDeps, projectId: string): string | undefined {
  const base = findRedeployBase(tx, projectId)
  if (!base) return undefined
  return deployments.enqueueInTransaction(tx, { project_id: projectId, trigger: 'env_change', source: { of: base.id } })
}
