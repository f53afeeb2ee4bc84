import { findRedeployBase } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** Refuses a change that would redeploy where no deployment is allowed, before anything is changed. */
export function requireRedeployable(tx: Tx, { deployments }: FeatureDeps, project: ProjectRow): void {
  if (findRedeployBase(tx, project.id)) deployments.requireIsolation(tx, project)
}

/**
 * Deploys the current production version again with the variables of now, in the transaction that changes them. Returns the id of the
 * new deployment; undefined for a project that never ran or was stopped.
 */
export function redeployInTransaction(tx: Tx, { deployments }: FeatureDeps, projectId: string): string | undefined {
  const base = findRedeployBase(tx, projectId)
  if (!base) return undefined
  return deployments.enqueueInTransaction(tx, { project_id: projectId, trigger: 'env_change', source: { kind: 'same_as', deployment_id: base.id } })
}
