import { rm } from 'node:fs/promises'
import type { StepLog } from '../../contract/build-log.ts'
import { type DeploymentRun, resultOf, saveProgress } from '../deployment-run.ts'
import { computeInputsDigest } from '../reuse-artifact.ts'
import { getWorkFolder } from './clone.ts'

/** Builds the artifact. Without a build command the artifact is the source with its dependencies. */
export async function build(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  if (run.artifact) return 'skipped'
  const artifact = await resultOf(run, 'build').build(log)
  run.artifact = artifact
  await saveProgress(run, { artifact: JSON.stringify(artifact), image_bytes: artifact.bytes, inputs_digest: computeInputsDigest(run) })
  await closeBuild(run)
  const { work } = resultOf(run, 'plan')
  if (work.kind !== 'dockerfile' && work.build_command === null) return 'skipped'
}

/** Removes what only the build needs. */
export async function closeBuild(run: DeploymentRun): Promise<void> {
  const { build: open } = run
  run.build = undefined
  await open?.close()
  await rm(getWorkFolder(run.context.data_dir, run.deployment.id), { recursive: true, force: true, maxRetries: 3 })
}
