import type { StepLog } from '../../contract/build-log.ts'
import { DetectFailure } from '../../builder/index.ts'
import { parseApps } from '../../lib/project-apps.ts'
import { runtimes } from '../../contract/runtimes.ts'
import { addDeclaredServices } from '../declared-services.ts'
import { addManagedServices } from '../managed-services.ts'
import { type DeploymentRun, resultOf, saveProgress } from '../deployment-run.ts'
import { getBuildSettings } from '../reuse-version.ts'

/** Plans the services and their builds from the files of the source. */
export async function detect(run: DeploymentRun, log: StepLog): Promise<void> {
  const { context, deployment, project } = run
  if (run.version) return log.note(`Reusing the build of ${deployment.parent_id}: settings and variables have not changed.`)
  const source = await context.planSource({
    folder: resultOf(run, 'source').folder,
    settings: getBuildSettings(project),
    apps: parseApps(project.apps),
    builds_dockerfiles: runtimes[deployment.runtime].builds_dockerfiles,
  })
  await addDeclaredServices(run, source.config, log)
  const { secrets } = run
  const plan = addManagedServices(source, secrets.managed_services)
  run.plan = plan
  for (const sentence of plan.config?.explanation ?? []) log.note(sentence)
  for (const build of plan.builds) {
    if (plan.config) log.note(`Build of ${build.services.join(', ')}:`)
    for (const sentence of build.plan.explanation) log.note(sentence)
  }
  for (const { name, replicas } of plan.config?.services ?? [])
    if (deployment.target === 'preview' && replicas !== null && replicas > 1)
      log.note(`${name}: one of ${replicas} replicas runs, because previews run one of each service.`)
  const missing = plan.config?.required_variables.filter((name) => !secrets.variables[name]) ?? []
  if (missing.length > 0)
    throw new DetectFailure(
      `${plan.config?.file} requires variables that this project does not have: ${missing.join(', ')}.`,
      `Set them with homeport env set ${project.slug} ${missing[0]}=value or in the project’s variables, then deploy again.`,
    )
  await saveProgress(run, { framework: plan.builds[0]?.plan.framework ?? 'image' })
}
