import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import { requireProject } from './access.ts'
import type { OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { enqueueDeployment } from './enqueue.ts'

type UploadHandlers = Pick<Handlers<OperationContext>, 'uploadProject' | 'uploadCommit'>

export function createUploadHandlers(deps: FeatureDeps): UploadHandlers {
  const uploadCommit: UploadHandlers['uploadCommit'] = async (context, { params, query, upload }) => {
    const { caller, signal } = context
    const project = await deps.store.db.read((tx) => {
      const found = requireProject(tx, caller, params.slug)
      // Checked before a large archive is received.
      deps.deployments.requireIsolation(tx, found)
      return found
    })
    const archive = await deps.archives.receive(upload, signal).catch((error: unknown) => {
      throw signal.aborted ? new Problem('bad_request', 'The connection ended before the archive was complete.', { cause: error }) : error
    })
    try {
      return await enqueueDeployment(deps, context, {
        project_id: project.id,
        trigger: 'upload',
        source: { kind: 'archive' },
        archive: { file: archive.file, commit: query },
      })
    } finally {
      await archive.discard()
    }
  }
  return { uploadCommit, uploadProject: uploadCommit }
}
