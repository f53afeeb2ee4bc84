import type { DeploymentService } from '../deployments/service.ts'
import { createUsageRecorder } from '../features/usage-recorder.ts'
import { findProject } from '../store/projects.ts'
import type { PlatformContext } from './context.ts'

/** Samples CPU and memory of apps while the platform runs. */
export function createPlatformUsage({ store, settings, events, clock, log, onClose }: PlatformContext, deployments: DeploymentService) {
  const recorder = createUsageRecorder({
    readAllUsage: deployments.readAllUsage,
    isEnabled: () => settings.current().metrics,
    store: store.usage,
    clock,
    log,
  })
  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'project_changed' && !store.db.readSync((tx) => findProject(tx, event.id))) recorder.forgetProject(event.id)
  })
  onClose(async () => {
    unsubscribe()
    await recorder.close()
  })
  return recorder
}
