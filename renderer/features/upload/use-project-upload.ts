import { useLocation, useRouter } from 'wouter'
import { useDeployFolder } from '../../api/projects.ts'
import { useConnection } from '../../stores/connection.ts'
import { uploadArchive, uploadKey, useUploads } from '../../stores/uploads.ts'
import type { DroppedSource } from '../../lib/dropped-source.ts'

/** The upload of a project, and a handler for dropped or chosen sources. */
export function useProjectUpload(slug: string) {
  const connection = useConnection((state) => state.current)
  const key = uploadKey(connection, slug)
  const upload = useUploads((state) => state.uploads[key])
  const setUpload = useUploads((state) => state.setUpload)
  const [, navigate] = useLocation()
  const { base } = useRouter()
  const deployFolder = useDeployFolder({ onSuccess: ({ deployment }) => navigate(`/projects/${slug}/deployments/${deployment.id}`) })

  const uploadDropped = (dropped: DroppedSource) => {
    if (upload?.state === 'sending') return
    if (dropped.kind === 'archive') void uploadArchive(connection, base, { slug, file: dropped.file, type: dropped.type, is_new: false })
    else if (dropped.kind === 'folder') deployFolder.mutate({ body: { path: dropped.path, slug } })
    else setUpload(key, { state: 'refused', name: '', problem: { message: dropped.text } })
  }
  return { upload, take: uploadDropped, dismiss: () => setUpload(key, null) }
}
