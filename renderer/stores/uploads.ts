import { create } from 'zustand'
import { navigate } from 'wouter/use-browser-location'
import { putDeployment, removeProject } from '../api/cache.ts'
import { type ApiProblem, problemFrom } from '../api/problem.ts'
import { isGivenUp } from '../api/send-file.ts'
import { type Transfer, createPace } from '../api/use-upload.ts'
import { isStraight } from './address.ts'
import type { Connection } from './connection.ts'
import { useUi } from './ui.ts'

/** An archive on its way to a project, or why it did not get there. */
export type Upload =
  | { state: 'sending'; transfer: Transfer; cancel(): void }
  | { state: 'refused'; name: string; problem: ApiProblem | { message: string } }

interface UploadStore {
  /** By instance and project. They go on while somebody looks at other pages. */
  uploads: Record<string, Upload>
  put(key: string, upload: Upload | null): void
}

export const useUploads = create<UploadStore>((set) => ({
  uploads: {},
  put: (key, upload) =>
    set((state) => {
      const { [key]: _, ...others } = state.uploads
      return { uploads: upload ? { ...others, [key]: upload } : others }
    }),
}))

export const uploadKey = (connection: Connection, slug: string) => `${connection.id} ${slug}`

interface Archive {
  slug: string
  file: File
  type: string
  /** The project was made for this upload: without it, it goes again. */
  is_new: boolean
}

/** Sends an archive, deploys it, and leads to its build whoever still looks at the project. One at a time for a project. */
export async function sendArchive(connection: Connection, base: string, { slug, file, type, is_new }: Archive): Promise<void> {
  const { put } = useUploads.getState()
  const { client, cache } = connection
  const key = uploadKey(connection, slug)
  if (useUploads.getState().uploads[key]?.state === 'sending') return
  const stopped = new AbortController()
  const pace = createPace()
  const root = `${base}/projects/${slug}`
  const show = (sent: number) => {
    if (stopped.signal.aborted) return
    const transfer = { name: file.name, sent, total: file.size, ...pace(sent, file.size, performance.now()) }
    put(key, { state: 'sending', transfer, cancel: () => stopped.abort() })
    void window.homeport?.setProgress(file.size === 0 ? null : Math.min(1, sent / file.size))
  }
  show(0)
  window.addEventListener('beforeunload', askFirst)
  try {
    const { deployment } = await client.upload('uploadProject', { params: { slug } }, file, { type, signal: stopped.signal, onProgress: show })
    put(key, null)
    putDeployment(cache, deployment)
    const place = `${root}/deployments/${deployment.id}`
    if (new RegExp(`^${root}(/deployments.*|/previews)?/?$`).test(location.pathname) && isStraight(place)) navigate(place)
    else
      useUi
        .getState()
        .showToast({ kind: 'done', text: `${file.name} has arrived; ${slug} is being deployed from it.`, request_id: null, of: connection.id })
  } catch (error) {
    if (!isGivenUp(error)) return put(key, { state: 'refused', name: file.name, problem: problemFrom(error) })
    put(key, null)
    if (!is_new) return
    const isGone = await client.call('deleteProject', { params: { slug } }).then(
      () => true,
      () => false,
    )
    if (!isGone) return
    if (location.pathname.startsWith(root)) navigate(`${base}/`)
    removeProject(cache, slug)
  } finally {
    window.removeEventListener('beforeunload', askFirst)
    void window.homeport?.setProgress(null)
  }
}

/** The browser asks whether to leave the page: what is under way would be lost. */
function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
