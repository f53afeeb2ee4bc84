import { create } from 'zustand'
import { navigate } from 'wouter/use-browser-location'
import { upsertDeployment, removeProject } from '../api/query-cache.ts'
import type { ApiError } from '../../server/client/api-error.ts'
import { toApiError } from '../lib/api-error.ts'
import { isAbortError } from '../api/send-file.ts'
import { type Transfer, createRateEstimator } from '../api/use-upload.ts'
import { askBeforeUnload } from '../lib/ask-before-unload.ts'
import { isSafePath } from '../lib/instance-path.ts'
import type { InstanceConnection } from './connection.ts'
import { useUi } from './ui.ts'

/** The upload of an archive to a project, or its error. */
export type Upload =
  | { state: 'sending'; transfer: Transfer; cancel(): void }
  | { state: 'refused'; name: string; problem: ApiError | { message: string } }

interface UploadStore {
  /** By instance and project. Uploads continue while the user visits other pages. */
  uploads: Record<string, Upload>
  setUpload(key: string, upload: Upload | null): void
}

export const useUploads = create<UploadStore>((set) => ({
  uploads: {},
  setUpload: (key, upload) =>
    set((state) => {
      const { [key]: _, ...others } = state.uploads
      return { uploads: upload ? { ...others, [key]: upload } : others }
    }),
}))

askBeforeUnload(() => Object.values(useUploads.getState().uploads).some(({ state }) => state === 'sending'))

export const uploadKey = (connection: InstanceConnection, slug: string) => `${connection.id} ${slug}`

interface ArchiveUpload {
  slug: string
  file: File
  type: string
  /** The project was created for this upload and is deleted if the upload fails. */
  is_new: boolean
}

/** Uploads an archive, deploys it, and opens the deployment if the user is still on the project. At most one upload per project at a time. */
export async function uploadArchive(connection: InstanceConnection, base: string, { slug, file, type, is_new }: ArchiveUpload): Promise<void> {
  const { setUpload } = useUploads.getState()
  const { client, cache } = connection
  const key = uploadKey(connection, slug)
  if (useUploads.getState().uploads[key]?.state === 'sending') return
  const controller = new AbortController()
  const estimateRate = createRateEstimator()
  const projectPath = `${base}/projects/${slug}`
  const reportProgress = (sent: number) => {
    if (controller.signal.aborted) return
    const transfer = { name: file.name, sent, total: file.size, ...estimateRate(sent, file.size, performance.now()) }
    setUpload(key, { state: 'sending', transfer, cancel: () => controller.abort() })
    void window.homeport?.setProgress(file.size === 0 ? null : Math.min(1, sent / file.size))
  }
  reportProgress(0)
  try {
    const { deployment } = await client.upload('uploadProject', { params: { slug }, query: { name: file.name } }, file, {
      type,
      signal: controller.signal,
      onProgress: reportProgress,
    })
    setUpload(key, null)
    upsertDeployment(cache, deployment)
    const deploymentPath = `${projectPath}/deployments/${deployment.id}`
    if (new RegExp(`^${projectPath}(/deployments.*|/previews)?/?$`).test(location.pathname) && isSafePath(deploymentPath)) navigate(deploymentPath)
    else useUi.getState().showToast({ kind: 'done', text: `${file.name} uploaded. Deploying ${slug}…`, request_id: null, of: connection.id })
  } catch (error) {
    if (!isAbortError(error)) return setUpload(key, { state: 'refused', name: file.name, problem: toApiError(error) })
    setUpload(key, null)
    if (!is_new) return
    const isDeleted = await client.call('deleteProject', { params: { slug } }).then(
      () => true,
      () => false,
    )
    if (!isDeleted) return
    if (location.pathname.startsWith(projectPath)) navigate(`${base}/`)
    removeProject(cache, slug)
  } finally {
    void window.homeport?.setProgress(null)
  }
}
