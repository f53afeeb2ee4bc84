import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ProjectsPage } from '../../../renderer/features/projects/page.tsx'
import { useProjectList } from '../../../renderer/stores/project-list.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = () => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, instance: { ...session.instance, edge_url: 'http://localhost:4780', apps_url: null } }
}
const createProject = (slug: string, own: Partial<Project> = {}) =>
  createExample(project, { id: `prj_${slug}`, slug, name: slug.toUpperCase(), repo_url: null, is_cold: false, ...own })

afterEach(() => {
  useProjectList.setState({ view: 'list', favorites: {} })
  useUi.setState({ new_project_open: false })
})

const showPage = (
  search: string,
  {
    next_cursor = null as string | null,
    data = [] as NonNullable<PartOptions['data']>,
    answers = {},
    projects = [createProject('shop'), createProject('blog')],
  } = {},
) => {
  history.replaceState(null, '', `/app/${search}`)
  return renderPart(<ProjectsPage />, {
    data: [
      [queryKeys.session, createSession()],
      [queryKeys.projects, { pages: [{ projects, next_cursor }], pageParams: [null] }],
      [queryKeys.sparklines, { projects: [] }],
      ...data,
    ],
    answers,
  })
}
const readCount = () =>
  screen
    .getAllByRole('status')
    .map(({ textContent }) => textContent)
    .at(-1)
const readNames = () =>
  screen
    .queryAllByTestId('project-link')
    .map(({ textContent }) => textContent)
    .join(', ')

test.each<[string, string, Parameters<typeof showPage>[1], string, string]>([
  ['one project', '', { projects: [createProject('shop')] }, 'SHOP', '1 project'],
  ['all projects', '', {}, 'SHOP, BLOG', '2 projects'],
  ['the first of many projects', '', { next_cursor: 'next' }, 'SHOP, BLOG', '2 newest projects; scroll to load more'],
  ['a search in all projects', '?q=%20Sho%20', {}, 'SHOP', '1 of 2 projects'],
  ['a search that is not answered', '?q=sho', { next_cursor: 'next' }, 'SHOP', 'Searching; 1 so far'],
  [
    'a search in more projects than are loaded',
    '?q=sho',
    {
      next_cursor: 'next',
      data: [
        [queryKeys.projectSearch(['sho']), { projects: [createProject('shoes', { created_at: '2026-03-01T12:00:00.000Z' })], count: 2, total: 1200 }],
      ],
    },
    'SHOES, SHOP',
    '2 of 1,200 projects',
  ],
  [
    'a search with too many matches',
    '?q=sho',
    { next_cursor: 'next', data: [[queryKeys.projectSearch(['sho']), { projects: [], count: 70, total: 1200 }]] },
    'SHOP',
    '70 of 1,200 projects; showing the newest 1. Add a word to narrow the search',
  ],
  ['one status', '?status=live', { projects: [createProject('shop'), createProject('blog', { status: 'failed' })] }, 'SHOP', '1 of 2 projects'],
  ['one status of many projects', '?status=live', { next_cursor: 'next' }, 'SHOP, BLOG', 'Searching; 2 so far'],
  ['an order by name', '?sort=name', {}, 'BLOG, SHOP', '2 projects'],
  ['an unknown order and status', '?sort=size&status=toString', {}, 'SHOP, BLOG', '2 projects'],
])('%s', (_, search, options, names, count) => {
  showPage(search, options)
  expect(readNames()).toBe(names)
  expect(readCount()).toBe(count)
})

test.each([
  ['a search', '?q=Docs', 'No projects matchNo name, slug or repository contains “Docs”.Show all projects'],
  ['a status', '?status=failed', 'No projects matchNo project has this status.Show all projects'],
])('no project matches %s, and all are shown again', async (_, search, expected) => {
  const { user } = showPage(search)
  expect(screen.getByRole('heading', { level: 2 }).parentElement?.textContent).toBe(expected)
  await user.click(screen.getByRole('button', { name: 'Show all projects' }))
  expect(location.search).toBe('')
  expect(readNames()).toBe('SHOP, BLOG')
})

test('a search that is not answered does not say that nothing matches', () => {
  showPage('?q=docs', { next_cursor: 'next' })
  expect(screen.queryByText('No projects match')).toBeNull()
})

test('favorites come first, also those that are not loaded', () => {
  useProjectList.setState({ favorites: { local: ['old', 'blog'] } })
  showPage('', {
    data: [
      [queryKeys.project('old'), createProject('old')],
      [queryKeys.project('blog'), createProject('blog')],
    ],
  })
  expect(readNames()).toBe('OLD, BLOG, SHOP')
})

test('a search leaves out favorites that do not match', () => {
  useProjectList.setState({ favorites: { local: ['old'] } })
  showPage('?q=sho', { data: [[queryKeys.project('old'), createProject('old')]] })
  expect(readNames()).toBe('SHOP')
})

test('the address holds the search, the status and the order', async () => {
  const { user } = showPage('')
  await user.type(screen.getByRole('searchbox', { name: 'Search projects' }), 'sh')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Status' }), 'live')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Order' }), 'name')
  expect(location.search).toBe('?q=sh&status=live&sort=name')
  await user.selectOptions(screen.getByRole('combobox', { name: 'Order' }), 'created')
  expect(location.search).toBe('?q=sh&status=live')
})

test('a project is created', async () => {
  const { user } = showPage('')
  await user.click(screen.getByRole('button', { name: 'New project' }))
  expect(useUi.getState().new_project_open).toBe(true)
})

test('the projects are shown as a grid and as a list', async () => {
  const { user } = showPage('')
  const pressed = () => screen.getAllByRole('button', { pressed: true }).map((button) => button.getAttribute('aria-label'))
  expect(pressed()).toEqual(['Show as list'])
  await user.click(screen.getByRole('button', { name: 'Show as grid' }))
  expect([pressed(), screen.getAllByTestId('project-card').length]).toEqual([['Show as grid'], 2])
  expect(document.querySelector('.card:has([data-testid=project-card])'), 'no card in a card').toBeNull()
  await user.click(screen.getByRole('button', { name: 'Show as list' }))
  expect([pressed(), screen.getAllByTestId('project-row').length]).toEqual([['Show as list'], 2])
})

test('an instance without projects welcomes its user', () => {
  showPage('', { projects: [] })
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Deploy your first app')
})

test('projects that cannot be loaded are loaded again', async () => {
  const fetchProjects = { listProjects: problemResponse('forbidden', 'You may not list projects.') }
  const { user, text } = renderPart(<ProjectsPage />, { data: [[queryKeys.session, createSession()]], answers: fetchProjects })
  expect(text()).toContain('Loading')
  expect((await screen.findByRole('alert')).textContent).toContain('You may not list projects.')
  expect(readCount()).toBe('')
  await user.click(screen.getByRole('button', { name: 'Try again' }))
})

test.each([
  ['at the end of the list', ''],
  ['for an order', '?sort=name'],
  ['for a status', '?status=live'],
])('further projects are loaded %s', async (_, search) => {
  showPage(search, { next_cursor: 'next', answers: { listProjects: { projects: [createProject('attic')], next_cursor: null } } })
  expect(await screen.findByText('ATTIC')).toBeTruthy()
  await waitFor(() => expect(readCount()).toBe(search === '?status=live' ? '3 of 3 projects' : '3 projects'))
})
