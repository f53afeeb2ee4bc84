import type { AppSpec } from './supervised-app.ts'
import type { DeploymentContext } from './context.ts'
import type { ReplicaSpec } from './service-spec.ts'

/** Reports services of production that keep exiting. */
export function createServiceCrashRecorder({ log, recordServiceCrash }: Pick<DeploymentContext, 'log' | 'recordServiceCrash'>) {
  return ({ target, project_id }: AppSpec, { owner_id, config }: ReplicaSpec): void => {
    if (target !== 'production') return
    void recordServiceCrash(project_id, owner_id, config.name).catch((error: unknown) =>
      log.warn('service_crash_not_recorded', { service: config.name, error }),
    )
  }
}
