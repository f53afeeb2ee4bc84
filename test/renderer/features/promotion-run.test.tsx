import { act } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toPromotionClient } from '../../../renderer/api/promotion-sides.ts'
import { readStoredPromotions, storePromotion } from '../../../renderer/features/promotion/promotion-storage.ts'
import { startPromotion, resumePromotions } from '../../../renderer/features/promotion/run-promotion.ts'
import { type InstanceConnection, localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { usePromotions } from '../../../renderer/stores/promotions.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import type { PromotionReportLine } from '../../../server/client/promotion/report.ts'
import type { PromotionRequest } from '../../../server/client/promotion/request.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const server: InstanceConnection = { ...localConnection, id: 'server', name: 'Server' }
const client = toPromotionClient(localConnection.client)
const createRequest = (own: Partial<PromotionRequest> = {}): PromotionRequest => ({
  from: { client, slug: 'my-shop' },
  to: { client, slug: 'shop' },
  source: { kind: 'git', repo_url: 'https://git.example.com/shop.git', repo_branch: 'main' },
  new_name: null,
  settings: { updateProject: { name: 'Shop' } },
  before: { updateProject: { name: 'Old shop' } },
  variables: new Set(),
  ...own,
})
const started = createExample(deployment, { id: 'dpl_9', status: 'queued', finished_at: null })
const completing: Answers = {
  listDeployments: { deployments: [], next_cursor: null },
  updateProject: { project: createExample(project, { slug: 'shop' }) },
  deployProject: { deployment_id: 'dpl_9', status: 'queued', deployment: started },
}
const refused = problemResponse('project_not_connected', 'It has no repository.')
const line: PromotionReportLine = { item: 'Domain shop.example.com', outcome: 'not_copied', note: 'It still points here.' }
function start(
  request = createRequest(),
  { answers = completing, notCopied = [line] }: { answers?: Answers; notCopied?: PromotionReportLine[] } = {},
) {
  const part = renderPart(<></>, { answers })
  startPromotion(localConnection, server, request, notCopied)
  return part
}
const promotion = () => usePromotions.getState().promotions[0]
const state = () => promotion()?.state
const stepStates = () => promotion()?.steps.map(({ name, state: step, note }) => `${name} ${step} ${note}`.trim())
const toasts = () => useUi.getState().toasts.map(({ kind, text, of }) => `${of} ${kind}: ${text}`)
const openPath = (path: string) => act(() => history.replaceState(null, '', path))

beforeEach(() => useConnection.setState({ connections: [localConnection, server] }))
afterEach(() => {
  usePromotions.setState({ promotions: [] })
  openPath('/app/')
  Reflect.deleteProperty(navigator, 'locks')
  vi.restoreAllMocks()
})

test('a promotion runs its steps in order and is no longer stored at its end', async () => {
  const { sent } = start()
  expect(await vi.waitUntil(() => promotion())).toMatchObject({
    key: 'local my-shop',
    from: { id: 'local', slug: 'my-shop' },
    to: { id: 'server', slug: 'shop' },
  })
  await expect.poll(state).toBe('done')
  expect(sent.map(({ operation }) => operation)).toEqual(['updateProject', 'deployProject'])
  expect(stepStates()).toEqual(['project done settings changed', 'deploy done'])
  expect(promotion()).toMatchObject({ deployment_id: 'dpl_9', report: [line], problem: null, transfer: null })
  expect(readStoredPromotions()).toEqual([])
  expect(location.pathname).toBe('/app/')
})

test.each([
  ['/app/projects/my-shop', '/app/on/server/projects/shop/deployments/dpl_9'],
  ['/app/projects/my-shop/settings', '/app/on/server/projects/shop/deployments/dpl_9'],
  ['/app/projects/my-shop-2', '/app/projects/my-shop-2'],
])('a user on %s is on %s at its end', async (before, after) => {
  openPath(before)
  start()
  await expect.poll(state).toBe('done')
  expect(location.pathname).toBe(after)
})

test('a promotion without a report disappears when its deployment opens', async () => {
  openPath('/app/projects/my-shop')
  start(createRequest(), { notCopied: [] })
  await expect.poll(() => location.pathname).toBe('/app/on/server/projects/shop/deployments/dpl_9')
  expect(promotion()).toBeUndefined()
})

test('a failed step is repeated on request, and those before are not', async () => {
  const { sent } = start(createRequest(), { answers: { ...completing, deployProject: refused } })
  await expect.poll(state).toBe('failed')
  expect(stepStates()).toEqual(['project done settings changed', 'deploy failed'])
  expect(promotion()?.problem?.message).toBe('It has no repository.')
  expect(readStoredPromotions()).toMatchObject([{ key: 'local my-shop', steps_done: ['project'], is_given_up: false, not_copied: [line] }])
  promotion()?.retry()
  expect(promotion()).toMatchObject({ state: 'running', problem: null })
  await expect.poll(state).toBe('failed')
  expect(sent.map(({ operation }) => operation)).toEqual(['updateProject', 'deployProject', 'deployProject'])
})

test('the changes of a failed promotion are undone', async () => {
  const { sent } = start(createRequest(), { answers: { ...completing, deployProject: refused } })
  await expect.poll(state).toBe('failed')
  promotion()?.cancel()
  expect(promotion()).toMatchObject({ state: 'undoing', is_given_up: true, problem: null })
  expect(readStoredPromotions()).toMatchObject([{ is_given_up: true }])
  promotion()?.cancel()
  await expect.poll(toasts).toEqual(['local done: Canceled. Server was not changed.'])
  expect(sent.map(({ body }) => body)).toEqual([{ name: 'Shop' }, undefined, { name: 'Old shop' }])
  expect(promotion()).toBeUndefined()
  expect(readStoredPromotions()).toEqual([])
})

test('changes that cannot be undone are undone again on request', async () => {
  const { sent } = start(createRequest(), { answers: { ...completing, updateProject: problemResponse('project_not_found', 'It was deleted.') } })
  await expect.poll(state).toBe('failed')
  expect(stepStates()).toEqual(['project failed', 'deploy waiting'])
  promotion()?.cancel()
  await expect.poll(state).toBe('failed')
  expect(promotion()).toMatchObject({ is_given_up: true, problem: { message: 'It was deleted.' } })
  promotion()?.retry()
  expect(state()).toBe('undoing')
  await expect.poll(state).toBe('failed')
  expect(sent.map(({ body }) => body)).toEqual([{ name: 'Shop' }, { name: 'Old shop' }, { name: 'Old shop' }])
  expect(toasts()).toEqual([])
})

test('a running promotion is canceled, which undoes its changes', async () => {
  const { listDeployments, updateProject } = completing
  const { sent } = renderPart(<></>, { answers: { listDeployments, updateProject } })
  const send = globalThis.fetch
  vi.stubGlobal('fetch', (address: string, options?: RequestInit) => {
    const aborted = Promise.withResolvers<never>()
    options?.signal?.addEventListener('abort', () => aborted.reject(new DOMException('Canceled', 'AbortError')))
    return Promise.race([send(address, options), aborted.promise])
  })
  startPromotion(localConnection, server, createRequest(), [])
  await expect.poll(stepStates).toEqual(['project done settings changed', 'deploy running'])
  promotion()?.cancel()
  await expect.poll(toasts).toEqual(['local done: Canceled. Server was not changed.'])
  expect(sent.map(({ operation }) => operation)).toEqual(['updateProject', 'deployProject', 'updateProject'])
  expect(promotion()).toBeUndefined()
})

test('a source is fetched and uploaded with its progress', async () => {
  const progress: unknown[] = []
  const stop = usePromotions.subscribe(({ promotions }) => progress.push(promotions[0]?.transfer?.sent))
  const upload = vi.spyOn(localConnection.client, 'upload').mockImplementation(async (_id, _input, _file, { onProgress }) => {
    onProgress?.(3, 7)
    return { deployment_id: 'dpl_9', status: 'queued', deployment: started }
  })
  start(createRequest({ source: { kind: 'archive', deployment_id: 'dpl_1' }, settings: {} }), {
    answers: { ...completing, downloadSource: new Response('content') },
  })
  await expect.poll(state).toBe('done')
  stop()
  expect(stepStates()).toEqual(['source done', 'project done unchanged', 'upload done'])
  expect(upload.mock.lastCall?.slice(0, 2)).toEqual(['uploadProject', { params: { slug: 'shop' } }])
  expect(progress).toContain(7)
  expect(progress).toContain(3)
  expect(promotion()?.transfer).toBeNull()
})

test('a second promotion of the project does not start until the first is done', async () => {
  start()
  await expect.poll(state).toBe('done')
  const first = promotion()
  startPromotion(localConnection, server, createRequest(), [])
  await vi.waitUntil(() => promotion() !== first)
  await expect.poll(state).toBe('done')
  usePromotions.setState(({ promotions }) => ({ promotions: promotions.map((one) => ({ ...one, state: 'failed' })) }))
  const failed = promotion()
  startPromotion(localConnection, server, createRequest(), [])
  await Promise.resolve()
  expect(promotion()).toBe(failed)
})

/** Another page holds the locks of all promotions. */
function lockInAnotherWindow(): void {
  const request = (_name: string, _options: object, callback: (lock: null) => unknown) => Promise.resolve(callback(null))
  Object.defineProperty(navigator, 'locks', { configurable: true, value: { request } })
}

test('a promotion that runs in another window does not start', async () => {
  lockInAnotherWindow()
  const { sent } = start()
  await expect.poll(toasts).toEqual(['local failed: Another dashboard window is already promoting my-shop.'])
  expect(promotion()).toBeUndefined()
  expect(sent).toEqual([])
})

const stored = {
  key: 'local my-shop',
  from: { id: 'local', slug: 'my-shop' },
  to: { id: 'server', slug: 'shop' },
  request: { source: { kind: 'archive' as const, deployment_id: 'dpl_1' }, new_name: null, settings: {}, before: {}, variables: ['API_URL'] },
  done: {},
  steps_done: ['source' as const, 'project' as const],
  is_given_up: false,
}

test.each([true, false])('a promotion of a closed page is shown, and was being undone: %s', async (is_given_up) => {
  renderPart(<></>)
  storePromotion({ ...stored, is_given_up })
  await resumePromotions()
  await expect.poll(state).toBe('cut')
  expect(promotion()).toMatchObject({ is_given_up, to: { id: 'server', name: 'Server', slug: 'shop' } })
  expect(stepStates()).toEqual(['source waiting', 'project done', 'variables waiting', 'upload waiting'])
  const shown = promotion()
  await resumePromotions()
  await Promise.resolve()
  expect(promotion()).toBe(shown)
})

test.each([
  ['from', { ...stored, from: { id: 'other', slug: 'my-shop' } }],
  ['to', { ...stored, to: { id: 'other', slug: 'shop' } }],
])('a promotion %s an instance that is gone is not shown', async (_, other) => {
  renderPart(<></>)
  storePromotion(other)
  storePromotion({ ...stored, key: 'local docs' })
  await resumePromotions()
  await expect.poll(() => usePromotions.getState().promotions.map(({ from }) => from.slug)).toEqual(['my-shop'])
  expect(usePromotions.getState().promotions).toHaveLength(1)
})
