import { act } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toPromotionClient } from '../../../renderer/api/promotion-sides.ts'
import { storePromotion } from '../../../renderer/features/promotion/promotion-storage.ts'
import { resumePromotions, startPromotion } from '../../../renderer/features/promotion/run-promotion.ts'
import { type InstanceConnection, localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { usePromotions } from '../../../renderer/stores/promotions.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import type { PromotionReportLine } from '../../../server/client/promotion/report.ts'
import type { PromotionRequest } from '../../../server/client/promotion/request.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

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
  useConnection.setState({ connections: [localConnection], current: localConnection })
  useUi.setState({ toasts: [] })
  localStorage.clear()
  openPath('/app/')
  Reflect.deleteProperty(navigator, 'locks')
  vi.restoreAllMocks()
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
