import type { RollbackPlan } from '../contract/rollbacks.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { listEnvVars } from '../store/env-vars.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'
import { computeInputsDigest } from './reuse-version.ts'
import { readSecrets } from './variables.ts'

/** What `reuseVersion` would decide for a rollback to this deployment now. */
export async function planRollback(context: DeploymentContext, parent: DeploymentRow, runtime: RuntimeName): Promise<RollbackPlan> {
  const { project, variables } = await context.store.db.read((tx) => ({
    project: findProject(tx, parent.project_id),
    variables: listEnvVars(tx, parent.project_id).filter(({ environment }) => environment !== 'preview'),
  }))
  const changed_variables = [...new Set(variables.filter(({ updated_at }) => updated_at > parent.created_at).map(({ key }) => key))]
  const rebuild = (rebuild_reason: RollbackPlan['rebuild_reason']): RollbackPlan => ({ is_instant: false, rebuild_reason, changed_variables })
  if (!project || parent.artifact === null) return rebuild('build_removed')
  const deployment = { ...parent, runtime, artifact: null }
  const secrets = await readSecrets(context, project, deployment)
  if (parent.runtime === runtime && parent.inputs_digest === computeInputsDigest({ deployment, project, secrets }))
    return { is_instant: true, rebuild_reason: null, changed_variables }
  return rebuild(changed_variables.length > 0 ? 'variables' : 'settings')
}
