import type { StepLog } from '../../contract/build-log.ts'
import { isOfPullRequest } from '../../lib/pull-request.ts'
import { type DeploymentRun, resultOf } from '../deployment-run.ts'

/** Opens the builds on the deployment's runtime and installs the dependencies. */
export async function install(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  if (run.version) return 'skipped'
  const { context, deployment, project, secrets, signal } = run
  const { config, builds } = resultOf(run, 'plan')
  run.builds = []
  if (deployment.skips_cache === 1) log.note('Building without cache.')
  for (const [index, { services, plan }] of builds.entries()) {
    const build = context.runtime(deployment.runtime).openBuild({
      project_id: project.id,
      is_untrusted: isOfPullRequest(deployment),
      deployment_id: deployment.id,
      service: index === 0 ? null : (services[0] ?? null),
      folder: resultOf(run, 'source').folder,
      keeps_folder: index < builds.length - 1,
      plan,
      variables: secrets.variables,
      build_secrets: secrets.build_secrets,
      memory_mb: context.settings().build_memory_mb,
      cpus: project.cpu_limit,
      skips_cache: deployment.skips_cache === 1,
      registries: secrets.registries,
      signal,
    })
    run.builds.push(build)
    if (config && builds.length > 1) log.note(`Build of ${services.join(', ')}:`)
    await build.install(log)
  }
  const hasInstalled = builds.some(({ plan: { work } }) => work.kind !== 'dockerfile' && work.install_command !== null)
  if (!hasInstalled) return 'skipped'
}
