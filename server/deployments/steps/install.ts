import type { StepLog } from '../../contract/build-log.ts'
import { type DeploymentRun, resultOf } from '../deployment-run.ts'

/** Opens the build on the deployment's runtime and installs the dependencies. */
export async function install(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  if (run.artifact) return 'skipped'
  const { context, deployment, project, secrets, signal } = run
  const plan = resultOf(run, 'plan')
  run.build = context.runtime(deployment.runtime).openBuild({
    project_id: project.id,
    deployment_id: deployment.id,
    folder: resultOf(run, 'source').folder,
    plan,
    variables: secrets.variables,
    memory_mb: context.settings().build_memory_mb,
    cpus: context.cpus,
    signal,
  })
  await run.build.install(log)
  if (plan.work.kind === 'dockerfile' || plan.work.install_command === null) return 'skipped'
}
