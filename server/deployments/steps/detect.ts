import type { StepLog } from '../../contract/build-log.ts'
import { type DeploymentRun, resultOf, saveProgress } from '../deployment-run.ts'
import { getBuildSettings } from '../reuse-artifact.ts'

/** Plans the build from the files of the source. */
export async function detect(run: DeploymentRun, log: StepLog): Promise<void> {
  if (run.artifact) return log.note(`Reusing the build of ${run.deployment.parent_id}: settings and variables have not changed.`)
  const plan = await run.context.planBuild({ folder: resultOf(run, 'source').folder, settings: getBuildSettings(run.project) })
  run.plan = plan
  for (const sentence of plan.explanation) log.note(sentence)
  await saveProgress(run, { framework: plan.framework })
}
