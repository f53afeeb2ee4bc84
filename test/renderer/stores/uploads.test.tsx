import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { localConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { uploadArchive, uploadKey, useUploads } from '../../../renderer/stores/uploads.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const key = uploadKey(localConnection, 'my-shop')
const answer = { deployment_id: 'dpl_9', status: 'queued' as const, deployment: createExample(deployment, { id: 'dpl_9' }) }
const start = (is_new = false, file = new File(['content'], 'shop.zip')) =>
  uploadArchive(localConnection, '/app', { slug: 'my-shop', file, type: 'application/zip', is_new })
const current = () => useUploads.getState().uploads[key]
const toasts = () => useUi.getState().toasts.map(({ text, of }) => `${of}: ${text}`)
const openPath = (path: string) => history.replaceState(null, '', path)
/** Starts an upload, cancels it, and waits until it has ended. */
async function cancel(is_new: boolean, answers: PartOptions['answers'] = {}) {
  const part = renderPart(<></>, { answers })
  vi.spyOn(localConnection.client, 'upload').mockImplementation((_id, _input, _file, { signal }) => {
    const aborted = Promise.withResolvers<never>()
    signal?.addEventListener('abort', () => aborted.reject(new DOMException('Canceled', 'AbortError')))
    return aborted.promise
  })
  const ended = start(is_new)
  const upload = current()
  if (upload?.state === 'sending') upload.cancel()
  await ended
  return part
}

afterEach(() => {
  vi.restoreAllMocks()
  useUploads.setState({ uploads: {} })
  openPath('/app/')
})

test.each([
  ['/app/projects/my-shop', true],
  ['/app/projects/my-shop/', true],
  ['/app/projects/my-shop/deployments/dpl_1', true],
  ['/app/projects/my-shop/previews', true],
  ['/app/projects/my-shop/settings', false],
  ['/app/projects/my-shop-2', false],
  ['/app/', false],
])('an upload that ends on %s opens its deployment: %s', async (path, isOpened) => {
  openPath(path)
  vi.spyOn(localConnection.client, 'upload').mockResolvedValue(answer)
  await start()
  expect(location.pathname).toBe(isOpened ? '/app/projects/my-shop/deployments/dpl_9' : path)
  expect(toasts()).toEqual(isOpened ? [] : ['local: shop.zip uploaded. Deploying my-shop…'])
  expect(current()).toBeUndefined()
})

test('the progress of an upload is that of its file, and a second one waits', async () => {
  const upload = vi.spyOn(localConnection.client, 'upload').mockReturnValue(new Promise(() => {}))
  void start()
  expect(current()).toMatchObject({ state: 'sending', transfer: { name: 'shop.zip', sent: 0, total: 7 } })
  upload.mock.lastCall?.[3].onProgress?.(3, 7)
  expect(current()).toMatchObject({ transfer: { sent: 3, total: 7 } })
  await start()
  expect(upload).toHaveBeenCalledOnce()
})

test('the browser warns before the page is left, until the upload has ended', async () => {
  const upload = Promise.withResolvers<typeof answer>()
  vi.spyOn(localConnection.client, 'upload').mockReturnValue(upload.promise)
  const leave = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  const ended = start()
  expect(leave()).toBe(true)
  upload.resolve(answer)
  await ended
  expect(leave()).toBe(false)
})

test('the browser warns until the last of several uploads has ended', async () => {
  const [first, second] = [Promise.withResolvers<typeof answer>(), Promise.withResolvers<typeof answer>()]
  vi.spyOn(localConnection.client, 'upload').mockReturnValueOnce(first.promise).mockReturnValueOnce(second.promise)
  const leave = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  const startAt = (slug: string) =>
    uploadArchive(localConnection, '/app', { slug, file: new File(['a'], 'a.zip'), type: 'application/zip', is_new: false })
  const ended = [startAt('one'), startAt('two')]
  first.resolve(answer)
  await ended[0]
  expect(leave()).toBe(true)
  second.resolve(answer)
  await ended[1]
  expect(leave()).toBe(false)
})

test('a rejected upload keeps its error, and another may start', async () => {
  vi.spyOn(localConnection.client, 'upload').mockRejectedValue(new ApiError('invalid_archive', 'It is damaged.', { status: 400 }))
  await start(true)
  expect(current()).toMatchObject({ state: 'refused', name: 'shop.zip', problem: { message: 'It is damaged.' } })
  await start()
  expect(localConnection.client.upload).toHaveBeenCalledTimes(2)
})

test('a canceled upload leaves an existing project as it is', async () => {
  const { sent } = await cancel(false)
  expect(current()).toBeUndefined()
  expect(sent).toEqual([])
})

test.each([
  ['/app/projects/my-shop', '/app/'],
  ['/app/account', '/app/account'],
])('a project that was created for a canceled upload is deleted, and %s becomes %s', async (before, after) => {
  openPath(before)
  const projects = { pages: [{ projects: [createExample(project, { slug: 'my-shop' })], next_cursor: null }], pageParams: [null] }
  localConnection.cache.setQueryData(queryKeys.projects, projects)
  const { sent } = await cancel(true, { deleteProject: new Response(null, { status: 204 }) })
  expect(sent).toEqual([{ operation: 'deleteProject', params: { slug: 'my-shop' } }])
  expect(location.pathname).toBe(after)
  expect(localConnection.cache.getQueryData(queryKeys.projects)).toMatchObject({ pages: [{ projects: [] }] })
})

test('a project that cannot be deleted stays open', async () => {
  openPath('/app/projects/my-shop')
  await cancel(true, { deleteProject: problemResponse('forbidden', 'Only the owner can delete it.') })
  expect(location.pathname).toBe('/app/projects/my-shop')
})
