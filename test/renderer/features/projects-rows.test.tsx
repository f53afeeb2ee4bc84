import { screen, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ProjectFilterSelect } from '../../../renderer/features/projects/project-filter-select.tsx'
import { ProjectGrid } from '../../../renderer/features/projects/project-grid.tsx'
import { ProjectList } from '../../../renderer/features/projects/project-list.tsx'
import { useProjectList } from '../../../renderer/stores/project-list.ts'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const createSession = () => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, instance: { ...session.instance, edge_url: 'http://localhost:4780', apps_url: null } }
}
const createProject = (slug: string, own: Partial<Project> = {}) =>
  createExample(project, { id: `prj_${slug}`, slug, name: slug.toUpperCase(), repo_url: null, is_cold: false, ...own })
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { id: 'dpl_2', number: 2, status: 'ready', ...own })

afterEach(() => useProjectList.setState({ favorites: {} }))

interface Row {
  project?: Partial<Project>
  latest?: Deployment | null
  serving?: Deployment | null
  requests?: number[]
  isFavorite?: boolean
}
const failed = createDeployment({ id: 'dpl_3', status: 'failed', commit_message: 'Break it' })
const rows: [string, Row, string, string][] = [
  [
    'is live',
    { requests: [1, 2] },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026on main [3 requests in 24 hours] 3 requests in 24 hours Vite Live [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Show prices with tax LiveJan 31, 2026 [3 requests in 24 hours] 3 requests in 24 hours',
  ],
  [
    'is a favorite with one request',
    { isFavorite: true, requests: [0, 1] },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026on main [1 request in 24 hours] 1 request in 24 hours Vite Live [Remove SHOP from favorites]',
    '[Projects] SHOP [Remove SHOP from favorites] shop.localhost:4780 Show prices with tax LiveJan 31, 2026 [1 request in 24 hours] 1 request in 24 hours',
  ],
  [
    'sleeps',
    { project: { is_cold: true }, serving: createDeployment({ branch: null, framework: null }) },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026 Live, asleeplast visit Jan 31, 2026 [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Show prices with tax Live, asleepJan 31, 2026',
  ],
  [
    'sleeps and had no request',
    { project: { is_cold: true, last_request_at: null } },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026on main Vite Live, asleep [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Show prices with tax Live, asleepJan 31, 2026',
  ],
  [
    'failed to build a new version',
    { latest: failed },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026on mainlatest failed Vite Live [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Show prices with tax LiveJan 31, 2026',
  ],
  [
    'failed to build a preview',
    { latest: { ...failed, target: 'preview' } },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026on main Vite Live [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Show prices with tax LiveJan 31, 2026',
  ],
  [
    'builds a new version',
    { project: { status: 'building' }, latest: { ...failed, status: 'queued', started_at: null } },
    '[Projects] SHOPshop.localhost:4780 Show prices with tax [Ready] Jan 31, 2026on main Vite LiveQueued [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Show prices with tax LiveQueuedJan 31, 2026',
  ],
  [
    'failed with its first version',
    { project: { status: 'failed' }, latest: failed, serving: null },
    '[Projects] SHOPshop.localhost:4780 Break it [Failed] Jan 31, 2026on main Vite Failed [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Break it FailedJan 31, 2026',
  ],
  [
    'was not deployed',
    { project: { status: 'created' }, latest: null, serving: null },
    '[Projects] SHOPshop.localhost:4780 Not deployed yet Not deployed [Add SHOP to favorites]',
    '[Projects] SHOP [Add SHOP to favorites] shop.localhost:4780 Not deployed yet Not deployed',
  ],
]
const rowOptions = ({ latest = createDeployment(), serving = createDeployment() }: Row): PartOptions => ({
  data: [
    [queryKeys.session, createSession()],
    [queryKeys.latest('shop'), latest],
    [queryKeys.serving('shop'), serving],
  ],
})
const listProps = ({ project: own, requests, isFavorite = false }: Row) => ({
  projects: [createProject('shop', own)],
  favorites: isFavorite ? ['shop'] : [],
  requests: requests && new Map([['shop', requests]]),
  onEndReached: vi.fn(),
})

test.each(rows)('a row of a project that %s', (_, row, expected) => {
  expect(renderPart(<ProjectList {...listProps(row)} words="" />, rowOptions(row)).text()).toBe(expected)
})

test.each(rows)('a card of a project that %s', (_, row, _row, expected) => {
  expect(renderPart(<ProjectGrid {...listProps(row)} />, rowOptions(row)).text()).toBe(expected)
})

test('a project becomes a favorite, and is one no longer', async () => {
  const { user } = renderPart(<ProjectList {...listProps({})} words="" />, rowOptions({}))
  await user.click(screen.getByRole('button', { name: 'Add SHOP to favorites', pressed: false }))
  expect(useProjectList.getState().favorites).toEqual({ local: ['shop'] })
  await user.click(screen.getByRole('button', { name: 'Add SHOP to favorites' }))
  expect(useProjectList.getState().favorites).toEqual({ local: [] })
})

test.each([
  ['all projects', '', 'All projects, SHOP'],
  ['a project that is not loaded', 'old', 'All projects, old, SHOP'],
])('a filter by project offers %s', (_, value, expected) => {
  const data: PartOptions['data'] = [[queryKeys.projects, { pages: [{ projects: [createProject('shop')], next_cursor: null }], pageParams: [null] }]]
  renderPart(<ProjectFilterSelect value={value} onChange={vi.fn()} />, { data })
  expect(
    within(screen.getByRole('combobox'))
      .getAllByRole('option')
      .map(({ textContent }) => textContent)
      .join(', '),
  ).toBe(expected)
})
