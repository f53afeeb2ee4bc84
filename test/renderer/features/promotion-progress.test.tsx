import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import Promotions from '../../../renderer/features/promotion/promotions.tsx'
import { type Promotion, type PromotionStep, usePromotions } from '../../../renderer/stores/promotions.ts'
import { ApiError } from '../../../server/client/api-error.ts'
import { renderPart } from '../../support/dashboard.tsx'
import { createPromotion } from '../../support/promotion.ts'

const steps: PromotionStep[] = [
  { name: 'source', state: 'done', note: '' },
  { name: 'project', state: 'running', note: '' },
  { name: 'upload', state: 'waiting', note: '' },
]
function open(own: Partial<Promotion> = {}) {
  const promotion = createPromotion({ steps, cancel: vi.fn(), retry: vi.fn(), ...own })
  usePromotions.setState({ promotions: [promotion] })
  return { ...renderPart(<Promotions />), promotion }
}
const buttons = () => screen.queryAllByRole('button').map(({ textContent }) => textContent)
const withRunning = (name: PromotionStep['name']): PromotionStep[] => [{ name, state: 'running', note: '' }]
const transfer = { name: 'my-shop', sent: 1000, total: 4000, rate: null, remaining_ms: null }
const done: PromotionStep[] = [
  { name: 'source', state: 'done', note: '' },
  { name: 'project', state: 'done', note: 'created' },
  { name: 'variables', state: 'done', note: '' },
]
const problem = new ApiError('storage_full', 'The disk is full.', { status: 507 })

afterEach(() => usePromotions.setState({ promotions: [] }))

const head = '[my-shop to Server] my-shop from Laptop [to] Server'
test.each<[string, Partial<Promotion>, string]>([
  ['running', {}, `${head} Cancel [Steps] Sourcedone Projectrunning Uploadwaiting Preparing the project on Server [Preparing the project on Server]`],
  [
    'done',
    { state: 'done', steps: done, deployment_id: 'dpl_1' },
    `${head} View build Dismiss [Steps] Sourcedone Projectcreated Variablesdone Done. shop is being built on Server.`,
  ],
  [
    'being undone',
    { state: 'undoing', is_given_up: true, steps: done },
    `${head} [Steps] Sourcedone Projectcreated Variablesdone Undoing changes on Server [Undoing changes on Server]`,
  ],
  [
    'of a page that was closed',
    { state: 'cut', steps: done },
    `${head} Resume Undo changes [Steps] Sourcedone Projectcreated Variablesdone The page was closed while this was in progress. Completed: source fetched, project (created), variables. Resume, or undo the changes on Server.`,
  ],
  [
    'of a page that was closed at once',
    { state: 'cut', steps: [] },
    `${head} Resume Undo changes [Steps] The page was closed while this was in progress. Resume, or undo the changes on Server.`,
  ],
  [
    'of a page that was closed while changes were undone',
    { state: 'cut', is_given_up: true, steps: [] },
    `${head} Undo [Steps] The page was closed while changes on Server were being undone.`,
  ],
  [
    'failed',
    { state: 'failed', steps: [...done, { name: 'upload', state: 'failed', note: '' }], problem },
    `${head} Try again Undo changes [Steps] Sourcedone Projectcreated Variablesdone Uploadfailed Upload: failed. Completed: source fetched, project (created), variables. Try again to continue from here, or undo the changes. The disk is full. storage_fullHow to fix it`,
  ],
  [
    'whose changes could not be undone',
    { state: 'failed', is_given_up: true, steps: done, problem },
    `${head} Try again [Steps] Sourcedone Projectcreated Variablesdone Could not undo the changes on Server. Completed: source fetched, project (created), variables. The disk is full. storage_fullHow to fix it`,
  ],
])('a promotion: %s', (_, own, expected) => expect(open(own).text()).toBe(expected))

test.each<[PromotionStep['name'], string]>([
  ['source', 'Fetching the source'],
  ['services', 'Adding services on Server'],
  ['volumes', 'Copying volumes to Server'],
  ['database', 'Copying the database to Server'],
  ['variables', 'Sending the variables to Server'],
  ['upload', 'Uploading to Server'],
  ['deploy', 'Deploying on Server'],
  ['data', 'Waiting for the deployment on Server, then copying data'],
])('the progress of the step %s', (name, label) => {
  open({ steps: withRunning(name) })
  expect(screen.getByRole('progressbar').getAttribute('aria-label')).toBe(label)
})

test.each<[string, Promotion['transfer'], string, string | null]>([
  ['without a transfer', null, 'Uploading to Server', null],
  ['of a known size', transfer, 'Uploading to Server1 kB of 4 kB (25 %)', '25'],
  ['of an unknown size', { ...transfer, total: 0 }, 'Uploading to Server1 kB so far', null],
  ['that is complete', { ...transfer, sent: 4000 }, 'Uploading to Server4 kB of 4 kB (100 %)', null],
])('the progress of an upload %s', (_, current, text, value) => {
  open({ steps: withRunning('upload'), transfer: current })
  const bar = screen.getByRole('progressbar')
  expect(bar.parentElement?.textContent).toBe(text)
  expect(bar.getAttribute('aria-valuenow')).toBe(value)
})

test('a failed promotion has no progress', () => {
  open({ state: 'failed', problem })
  expect(screen.queryByRole('progressbar')).toBeNull()
})

test.each<[string, Partial<Promotion>, 'cancel' | 'retry']>([
  ['Cancel', {}, 'cancel'],
  ['Try again', { state: 'failed', problem }, 'retry'],
  ['Resume', { state: 'cut' }, 'retry'],
  ['Undo changes', { state: 'cut' }, 'cancel'],
  ['Undo', { state: 'cut', is_given_up: true }, 'retry'],
])('the button %s', async (name, own, action) => {
  const { promotion, user } = open(own)
  await user.click(screen.getByRole('button', { name }))
  expect(promotion[action]).toHaveBeenCalledOnce()
  expect(promotion[action === 'cancel' ? 'retry' : 'cancel']).not.toHaveBeenCalled()
})

test('a promotion that is done is dismissed, and others stay', async () => {
  const { user } = open({ state: 'done' })
  usePromotions.getState().put(createPromotion({ key: 'local docs' }))
  await expect.poll(buttons).toEqual(['View build', 'Dismiss', 'Cancel'])
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(usePromotions.getState().promotions.map(({ key }) => key)).toEqual(['local docs'])
})

test('its build opens on the other instance', async () => {
  const { user } = open({ state: 'done', deployment_id: 'dpl_1' })
  await user.click(screen.getByRole('button', { name: 'View build' }))
  expect(location.pathname).toBe('/app/on/server/projects/shop/deployments/dpl_1')
  expect(usePromotions.getState().promotions).toEqual([])
})

test('the report has what needs attention first', () => {
  const { text } = open({
    state: 'done',
    steps: [],
    report: [
      { item: 'Redis', outcome: 'copied', note: '' },
      { item: 'Domain shop.example.com', outcome: 'not_copied', note: 'It still points here.' },
    ],
  })
  expect(text()).toMatch(/\[Not copied\] Not copied Domain shop\.example\.com It still points here\. \[Copied\] Copied Redis$/)
})
