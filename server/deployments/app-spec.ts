import type { Artifact } from '../runtime/runtime.ts'
import type { DeploymentRun } from './deployment-run.ts'
import type { AppSpec } from './supervised-app.ts'
import { createAppVariables } from './variables.ts'

export function createAppSpec(run: Pick<DeploymentRun, 'deployment' | 'project' | 'secrets' | 'context'>, artifact: Artifact): AppSpec {
  const { deployment, project, secrets, context } = run
  const plan = context.store.db.readSync((tx) => context.getPlanLimits(tx, project.account_id))
  return {
    project_id: project.id,
    deployment_id: deployment.id,
    target: deployment.target,
    branch: deployment.branch,
    runtime: deployment.runtime,
    artifact,
    listen_port: deployment.listen_port,
    // The plan may have been downgraded since the project's limit was set.
    memory_mb: Math.min(project.memory_limit_mb, plan.memory_mb),
    always_warm: project.always_warm === 1 && plan.always_warm && deployment.target === 'production',
    variables: createAppVariables(secrets.variables, { url: context.urlOf(context.routes.getHost(deployment)), deployment }),
    mask: secrets.mask,
  }
}
