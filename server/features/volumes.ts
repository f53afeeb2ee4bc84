import type { volumeOperations } from '../contract/volumes.ts'
import { createAddedVolumeHandlers } from './added-volumes.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { toEnvironment } from './services.ts'

export function createVolumeHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof volumeOperations> {
  const { volumes } = deps.deployments
  return {
    ...createAddedVolumeHandlers(deps),

    listVolumes: async ({ project }, { query }) => ({ volumes: await volumes.list(toEnvironment(project, query.branch)) }),

    createVolumeSnapshot: async ({ project }, { params, query }) => ({
      snapshot: await volumes.snapshot(toEnvironment(project, query.branch), params.name),
    }),

    restoreVolume: async ({ project }, { params, query, body }) => ({
      before: await volumes.restore(toEnvironment(project, query.branch), params.name, body.snapshot_id),
    }),

    downloadVolume: async ({ project }, { params, query }) => volumes.download(toEnvironment(project, query.branch), params.name, query.snapshot),

    listVolumeFiles: async ({ project }, { params, query }) => volumes.listFiles(toEnvironment(project, query.branch), params.name, query.path ?? ''),

    downloadVolumeFile: async ({ project }, { params, query }) => volumes.readFile(toEnvironment(project, query.branch), params.name, query.path),

    deleteVolume: async ({ project }, { params, query }) => ({ before: await volumes.remove(toEnvironment(project, query.branch), params.name) }),

    async deleteVolumeSnapshot({ project }, { params, query }) {
      await volumes.deleteSnapshot(toEnvironment(project, query.branch), params.name, params.id)
    },
  }
}
