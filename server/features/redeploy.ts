import { findRedeployBase } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { FeatureDeps } from './deps.ts'

/** Refuses a change that would redeploy where no deployment is allowed, before anything is changed. */
export function requireRedeployable(tx: Tx, { deployments: engine }: FeatureDeps, project: ProjectRow): void {
  if (findRedeployBase(tx, project.id)) engine.requireIsolation(tx, project)
}

/**
 * The current production deployment again, with the variables of now, in the transaction of a change; `start` is called once that is
 * committed. Nothing to do for what never ran or was stopped.
 */
export function redeployInTransaction(
  tx: Tx,
  { deployments: engine }: FeatureDeps,
  projectId: string,
): { deployment_id: string; start(): void } | undefined {
  const base = findRedeployBase(tx, projectId)
  if (!base) return undefined
  return engine.enqueueInTransaction(tx, { project_id: projectId, trigger: 'env_change', source: { kind: 'same_as', deployment_id: base.id } })
}
