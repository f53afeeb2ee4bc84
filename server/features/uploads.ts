import { Problem } from '../contract/errors.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { enqueueDeployment } from './enqueue.ts'

type UploadHandlers = Pick<OperationHandlers, 'uploadProject' | 'uploadCommit'>

export function createUploadHandlers(deps: FeatureDeps): UploadHandlers {
  const uploadCommit: UploadHandlers['uploadCommit'] = async (context, { query: { no_cache, name, ...commit }, upload }) => {
    const { project, signal } = context
    // Checked before a large archive is received.
    await deps.store.db.read((tx) => deps.deployments.requireIsolation(tx, project))
    const archive = await deps.archives.receive(upload, signal).catch((error: unknown) => {
      throw signal.aborted ? new Problem('bad_request', 'The connection ended before the archive was complete.', { cause: error }) : error
    })
    try {
      return await enqueueDeployment(deps, context, {
        project_id: project.id,
        trigger: 'upload',
        source: { kind: 'archive' },
        archive: { file: archive.file, name, commit },
        no_cache: no_cache === 'true',
      })
    } finally {
      await archive.discard()
    }
  }
  return { uploadCommit, uploadProject: uploadCommit }
}
