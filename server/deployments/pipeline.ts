import type { DeploymentRun, Step } from './deployment-run.ts'
import { reuseVersion } from './reuse-version.ts'
import { build, closeBuild } from './steps/build.ts'
import { clone } from './steps/clone.ts'
import { detect } from './steps/detect.ts'
import { healthCheck } from './steps/health-check.ts'
import { install } from './steps/install.ts'
import { route } from './steps/route.ts'
import { start } from './steps/start.ts'

/** The steps of every deployment, in order. The contract, the dashboard and the help name the same ones. */
export const steps = [
  { name: 'clone', run: clone },
  { name: 'detect', run: detect },
  { name: 'install', run: install },
  { name: 'build', run: build },
  { name: 'start', run: start },
  { name: 'health_check', run: healthCheck },
  { name: 'route', run: route },
] as const satisfies readonly Step[]

/** Runs one deployment, from source to traffic. Throws when a step fails; the caller records the outcome. */
export async function runDeployment(run: DeploymentRun): Promise<void> {
  try {
    run.version = await reuseVersion(run)
    for (const step of steps) {
      run.signal.throwIfAborted()
      const outcome = await step.run(run, run.log.begin(step.name))
      if (outcome === 'skipped') run.log.skip()
    }
  } catch (error) {
    await revert(run)
    throw error
  }
}

/** The previous version keeps serving, and nothing of this attempt is left. */
async function revert(run: DeploymentRun): Promise<void> {
  const warn = (error: unknown) => run.context.log.warn('deployment_revert_failed', { deployment: run.deployment.id, error })
  await closeBuild(run).catch(warn)
  if (run.candidate) await run.supervisor.stopCandidate(run.candidate).catch(warn)
  if (run.spec) await run.supervisor.revertServices(run.spec).catch(warn)
  await run.held_app?.resume().catch(warn)
  await run.stopped_app?.resume().catch(warn)
}
