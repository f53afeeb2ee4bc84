import { Problem } from '../contract/errors.ts'
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

    async uploadVolume({ project, signal }, { params, query, upload }) {
      const options = { only_if_empty: query.only_if_empty === 'true', may_create: query.create === 'true', signal }
      try {
        return await volumes.upload(toEnvironment(project, query.branch), params.name, upload, options)
      } catch (error) {
        throw signal.aborted && !(error instanceof Problem)
          ? new Problem('bad_request', 'The connection ended before the archive was complete.', { cause: error })
          : error
      }
    },

    listVolumeFiles: async ({ project }, { params, query }) => volumes.listFiles(toEnvironment(project, query.branch), params.name, query.path ?? ''),

    downloadVolumeFile: async ({ project }, { params, query }) => volumes.readFile(toEnvironment(project, query.branch), params.name, query.path),

    deleteVolume: async ({ project }, { params, query }) => ({ before: await volumes.remove(toEnvironment(project, query.branch), params.name) }),

    async deleteVolumeSnapshot({ project }, { params, query }) {
      await volumes.deleteSnapshot(toEnvironment(project, query.branch), params.name, params.id)
    },
  }
}
