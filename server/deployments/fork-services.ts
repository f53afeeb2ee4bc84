import { Problem } from '../contract/errors.ts'
import { StartFailure } from '../runtime/runtime.ts'
import { findCurrentDeployment } from '../store/deployments.ts'
import { findFork } from '../store/forks.ts'
import type { ProjectRow } from '../store/tables.ts'
import { createAppSpec } from './app-spec.ts'
import type { DeploymentContext } from './context.ts'
import { changeData } from './data-changes.ts'
import { nameEnvironment } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'
import { readSecrets } from './variables.ts'
import { parseStoredVersion } from './version.ts'

/**
 * Starts the prebuilt images of production's version, such as Redis and MariaDB, with the data of a branch that has its own copy and no live preview.
 * They run until `closeForkServices`. Undefined: the branch has no copy, or a live preview, or there is nothing to start. Throws
 * `service_not_started`.
 */
export async function openForkServices(
  context: DeploymentContext,
  supervisor: Supervisor,
  project: ProjectRow,
  { branch, host }: { branch: string; host: string },
): Promise<EnvironmentState | undefined> {
  const environmentId = nameEnvironment({ project_id: project.id, branch })
  return changeData(context, environmentId, async () => {
    const { fork, current } = await context.store.db.read((tx) => ({
      fork: findFork(tx, project.id, branch),
      current: findCurrentDeployment(tx, project.id, 'production', null),
    }))
    if (!fork || supervisor.findEnvironment(environmentId) || !current || current.artifact === null) return undefined
    const deployment = { ...current, target: 'preview' as const, branch }
    // The branch has no preview, so its address is that of the development server.
    const ofBranch = { ...context, routes: { ...context.routes, getHost: () => host } }
    const secrets = await readSecrets(ofBranch, project, deployment)
    const spec = createAppSpec({ context: ofBranch, deployment, project, secrets }, parseStoredVersion(current.artifact))
    if (!spec.services.some(({ owner_id }) => owner_id === environmentId)) return undefined
    try {
      return await supervisor.holdImages(spec, new AbortController().signal)
    } catch (error) {
      if (error instanceof StartFailure) throw new Problem('service_not_started', `${error.message} ${error.hint}`, { cause: error })
      throw error
    }
  })
}

/** Stops them, unless another development server uses them or the branch has a preview now. */
export function closeForkServices(context: DeploymentContext, supervisor: Supervisor, environmentId: string): void {
  void changeData(context, environmentId, async () => {
    if (![...context.environmentsInUse.values()].includes(environmentId)) await supervisor.releaseImages(environmentId)
  }).catch((error: unknown) => context.log.warn('fork_services_stop_failed', { environment: environmentId, error }))
}
