import { useLocation, useRouter } from 'wouter'
import { useAction } from '../../api/actions.ts'
import { useConnection } from '../../stores/connection.ts'
import { sendArchive, uploadKey, useUploads } from '../../stores/uploads.ts'
import type { Dropped } from './archive.ts'

/** What is on its way to a project, and what takes whatever was dropped or chosen for it. */
export function useProjectUpload(slug: string) {
  const connection = useConnection((state) => state.current)
  const key = uploadKey(connection, slug)
  const upload = useUploads((state) => state.uploads[key])
  const put = useUploads((state) => state.put)
  const [, go] = useLocation()
  const { base } = useRouter()
  const deployFolder = useAction('deployFolder', { onDone: ({ deployment }) => go(`/projects/${slug}/deployments/${deployment.id}`) })

  const take = (dropped: Dropped) => {
    if (upload?.state === 'sending') return
    if (dropped.kind === 'archive') void sendArchive(connection, base, { slug, file: dropped.file, type: dropped.type, is_new: false })
    else if (dropped.kind === 'folder') deployFolder.mutate({ body: { path: dropped.path, slug } })
    else put(key, { state: 'refused', name: '', problem: { message: dropped.text } })
  }
  return { upload, take, dismiss: () => put(key, null) }
}
