import { Problem } from '../contract/errors.ts'
import type { unsavedFilesOperations } from '../contract/unsaved-files.ts'
import { isoTime } from '../lib/clock.ts'
import { dismissUnsavedFiles } from '../store/project-volumes.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createUnsavedFilesHandlers({ store, clock, deployments }: FeatureDeps): Pick<OperationHandlers, keyof typeof unsavedFilesOperations> {
  return {
    listUnsavedFiles: async ({ project }) => ({ unsaved_files: await deployments.volumes.listUnsavedFiles(project.id) }),

    async dismissUnsavedFiles({ project }, { params: { id } }) {
      await store.db.write((tx) => {
        if (dismissUnsavedFiles(tx, project.id, id, isoTime(clock.now())) === 0)
          throw new Problem('volume_not_found', 'This project has no report of unsaved files with this ID.')
        tx.publish({ type: 'project_changed', id: project.id })
      })
    },
  }
}
