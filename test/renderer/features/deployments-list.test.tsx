import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys, type DeploymentFilter } from '../../../renderer/api/query-keys.ts'
import DeploymentListPage from '../../../renderer/features/deployments/list-page.tsx'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { watching } from '../../../server/contract/previews.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createDeployment = (own: Partial<Deployment> = {}) =>
  createExample(deployment, {
    id: 'dpl_1',
    number: 3,
    status: 'ready',
    target: 'production',
    trigger: 'push',
    source: 'git',
    source_bytes: null,
    files_changed: null,
    is_current: false,
    can_rollback: false,
    started_at: '2026-01-31T12:00:00.000Z',
    finished_at: '2026-01-31T12:00:05.000Z',
    ...own,
  })
interface ListOptions {
  deployments?: Deployment[]
  next_cursor?: string | null
  filter?: DeploymentFilter
  answers?: PartOptions['answers']
}
const skipsNothing = createExample(watching, { skipped: [] })
function renderList({ deployments, next_cursor = null, filter = {}, answers = {} }: ListOptions = {}) {
  const data: [readonly unknown[], unknown][] = [
    [queryKeys.watching('shop'), skipsNothing],
    [queryKeys.project('shop'), createExample(project, { slug: 'shop', name: 'Shop' })],
    [queryKeys.latest('shop'), null],
  ]
  if (deployments) data.push([queryKeys.deployments('shop', filter), { pages: [{ deployments, next_cursor }], pageParams: [null] }])
  return renderPart(<DeploymentListPage slug="shop" />, { data, answers })
}
const status = () => screen.getByRole('status').textContent
const button = (name: string) => screen.getByRole('button', { name })
const search = () => Object.fromEntries(new URLSearchParams(location.search))
const links = () => screen.getAllByRole('link').map((link) => link.getAttribute('aria-label'))

beforeEach(() => {
  history.replaceState(null, '', '/app/projects/shop/deployments')
  vi.spyOn(window, 'scrollTo').mockImplementation(() => {})
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(50)
})
afterEach(() => vi.restoreAllMocks())

test('the list loads', () => {
  expect(renderList().text()).toBe('[Status] [Target] [Branch] [Deployments] Loading')
  expect(document.title).toBe('Deployments · Shop · Homeport')
})

test('the list waits for the skipped pushes', () => {
  const data: PartOptions['data'] = [[queryKeys.deployments('shop', {}), { pages: [{ deployments: [], next_cursor: null }], pageParams: [null] }]]
  expect(renderPart(<DeploymentListPage slug="shop" />, { data }).text()).toMatch(/Loading$/)
  expect(document.title).toBe('Deployments · shop · Homeport')
})

test('a project without deployments says how to create one', () => {
  expect(renderList({ deployments: [] }).text()).toBe(
    '[Status] [Target] [Branch] [Deployments] No deployments yet Select Deploy to create the first one.',
  )
})

test.each<[string, ListOptions, string]>([
  ['one', { deployments: [createDeployment()] }, '1 deployment'],
  ['several', { deployments: [createDeployment(), createDeployment({ id: 'dpl_2' })] }, '2 deployments'],
  ['more to load', { deployments: [createDeployment()], next_cursor: 'next' }, '1 most recent deployments; scroll to load more'],
])('the list has %s', (_, options, expected) => {
  renderList(options)
  expect(status()).toBe(expected)
  expect(screen.queryByRole('button', { name: 'Load all' }) !== null).toBe(options.next_cursor === 'next')
})

test('the filters of the address are applied', () => {
  history.replaceState(null, '', '?status=failed&target=preview&branch=docs')
  const filter: DeploymentFilter = { status: 'failed', target: 'preview', branch: 'docs' }
  renderList({ filter, deployments: [createDeployment()] })
  expect(status()).toBe('1 deployment that match')
  expect(['Status', 'Target', 'Branch'].map((label) => screen.getByLabelText<HTMLInputElement>(label).value)).toEqual(['failed', 'preview', 'docs'])
})

test('unknown filters of the address are ignored', () => {
  history.replaceState(null, '', '?status=broken&target=moon&branch=')
  renderList({ deployments: [createDeployment()] })
  expect(status()).toBe('1 deployment')
  expect(screen.queryByRole('button', { name: 'Clear filters' })).toBeNull()
})

test('filters that match nothing can be cleared', async () => {
  history.replaceState(null, '', '?target=production')
  const { user, text } = renderList({ filter: { target: 'production' }, deployments: [] })
  expect(text()).toContain('Clear filters [Deployments] No deployments match Clear a filter to see more.')
  await user.click(button('Clear filters'))
  expect(location.search).toBe('')
})

test('filters are written to the address', async () => {
  const { user } = renderList()
  await user.selectOptions(screen.getByLabelText('Status'), 'Building')
  expect(search()).toEqual({ status: 'building' })
  await user.selectOptions(screen.getByLabelText('Target'), 'Previews')
  expect(search()).toEqual({ status: 'building', target: 'preview' })
  await user.type(screen.getByLabelText('Branch'), ' docs ')
  expect(search()).toEqual({ status: 'building', target: 'preview' })
  await user.keyboard('{Enter}')
  expect(search()).toEqual({ status: 'building', target: 'preview', branch: 'docs' })
  await user.selectOptions(screen.getByLabelText('Status'), 'Any status')
  expect(search()).toEqual({ target: 'preview', branch: 'docs' })
})

test('a list that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { listDeployments: problemResponse('project_not_found', 'It is gone.') }
  const { user } = renderList({ answers })
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Deployments' })).toBeNull()
  answers.listDeployments = { deployments: [createDeployment()], next_cursor: null }
  await user.click(button('Try again'))
  await waitFor(() => expect(status()).toBe('1 deployment'))
})

const many = Array.from({ length: 100 }, (_, index) => createDeployment({ id: `dpl_${index}` }))
test('all deployments are loaded on request, and the page goes to the end', async () => {
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockReturnValue(900)
  const { user } = renderList({
    deployments: many,
    next_cursor: 'next',
    answers: { listDeployments: { deployments: [createDeployment({ id: 'dpl_last' })], next_cursor: null } },
  })
  expect(status()).toBe('100 most recent deployments; scroll to load more')
  await user.click(button('Load all'))
  await waitFor(() => expect(status()).toBe('101 deployments'))
  expect(window.scrollTo).toHaveBeenCalledWith({ top: 900 })
  expect(screen.queryByRole('button', { name: /^(Load all|Stop)$/ })).toBeNull()
})

test('the loading of all deployments can be stopped', async () => {
  const { user } = renderList({ deployments: many, next_cursor: 'next' })
  await user.click(button('Load all'))
  expect(status()).toBe('Loading all deployments; 100 so far')
  await user.click(button('Stop'))
  expect(status()).toBe('100 most recent deployments; scroll to load more')
})

test('an error ends the loading of all deployments', async () => {
  const { user } = renderList({
    deployments: many,
    next_cursor: 'next',
    answers: { listDeployments: problemResponse('project_not_found', 'It is gone.') },
  })
  await user.click(button('Load all'))
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  await waitFor(() => expect(button('Load all')).toBeTruthy())
})

test('the end of the list loads more', async () => {
  renderList({
    deployments: [createDeployment()],
    next_cursor: 'next',
    answers: { listDeployments: { deployments: [createDeployment({ id: 'dpl_2', commit_message: 'Fix the cart' })], next_cursor: null } },
  })
  await waitFor(() => expect(status()).toBe('2 deployments'))
  expect(links()).toEqual(['Show prices with tax, Ready', 'Fix the cart, Ready'])
})

test.each([
  ['complete', null, ['1 2', '2 2']],
  ['not complete', 'next', ['1 -1', '2 -1']],
])('deployments of a list that is %s have their place', (_, next_cursor, expected) => {
  renderList({ deployments: [createDeployment(), createDeployment({ id: 'dpl_2', status: 'failed' })], next_cursor })
  expect(screen.getAllByRole('listitem').map((item) => `${item.getAttribute('aria-posinset')} ${item.getAttribute('aria-setsize')}`)).toEqual(
    expected,
  )
})

test('a version that is not current can be rolled back to', async () => {
  const { user, text } = renderList({
    deployments: [
      createDeployment({ is_current: true, can_rollback: true }),
      createDeployment({ id: 'dpl_2', commit_message: 'Fix the cart', can_rollback: true }),
    ],
  })
  expect(screen.getAllByRole('button', { name: /^Roll back to/ })).toHaveLength(1)
  await user.click(button('Roll back to Fix the cart'))
  expect(text()).toContain('Roll back to “Fix the cart”?')
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})
