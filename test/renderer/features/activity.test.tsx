import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ActivityList } from '../../../renderer/features/activity/activity-list.tsx'
import { ActivityView } from '../../../renderer/features/activity/activity-view.tsx'
import ActivityPage from '../../../renderer/features/activity/page.tsx'
import ProjectActivityPage from '../../../renderer/features/activity/project-page.tsx'
import { type ActivityEntry, activityEntry } from '../../../server/contract/activity.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const ada = { kind: 'user', id: 'usr_1', name: 'ada@example.com', user_id: 'usr_1', email: 'ada@example.com' } as const
const details = { names: [], branch: null, commit_sha: null, failure: null }
const createEntry = (own: Partial<ActivityEntry> = {}) =>
  createExample(activityEntry, {
    id: 'act_1',
    actor: ada,
    via: null,
    action: 'project.created',
    project: { id: 'prj_1', slug: 'shop' },
    target: null,
    details,
    client_ip: null,
    ...own,
  })
const pageOf = (entries: ActivityEntry[], next_cursor: string | null = null) => ({ pages: [{ entries, next_cursor }], pageParams: [null] })
const session = createExample(instanceOperations.getSession.success.json, { user: createExample(user, { id: 'usr_1' }) })
const renderList = (own: Partial<ActivityEntry>, hasProjects = false) =>
  renderPart(<ActivityList entries={[createEntry(own)]} myId={undefined} hasProjects={hasProjects} />)
interface ViewOptions {
  slug?: string
  filters?: object
  entries?: ActivityEntry[]
  next_cursor?: string
  answers?: PartOptions['answers']
}
function renderView({ slug, filters = {}, entries, next_cursor, answers = {} }: ViewOptions = {}) {
  const data: [readonly unknown[], unknown][] = [
    [queryKeys.session, session],
    [queryKeys.projects, { pages: [{ projects: [createExample(project, { slug: 'shop', name: 'Shop' })], next_cursor: null }], pageParams: [null] }],
  ]
  if (entries) data.push([queryKeys.activity(slug ?? null, filters), pageOf(entries, next_cursor)])
  return renderPart(<ActivityView {...(slug !== undefined && { slug })} />, { data, answers })
}
const search = () => Object.fromEntries(new URLSearchParams(location.search))
const valueOf = (label: string) => screen.getByLabelText<HTMLSelectElement>(label).value

beforeEach(() => history.replaceState(null, '', '/app/activity'))

test.each<[string, Partial<ActivityEntry>, boolean, string[]]>([
  ['of a user', {}, false, ['ada@example.com created the project']],
  ['with its project', {}, true, ['ada@example.com created the project', 'shop']],
  ['without a project', { project: null, action: 'settings.updated' }, true, ['ada@example.com changed settings of the instance']],
  [
    'with a failure',
    { action: 'deployment.failed', details: { ...details, failure: 'build_failed' } },
    false,
    ['The deployment failed', 'Build failed'],
  ],
  ['with a commit', { details: { ...details, commit_sha: '3f8a6c1d2b4e5f60' } }, false, ['ada@example.com created the project', '3f8a6c1']],
  ['of a token', { actor: { ...ada, kind: 'token', name: 'CI' } }, false, ['Token CI created the project', 'ada@example.com']],
  ['of a token without an address', { actor: { ...ada, kind: 'token', name: 'CI', email: null } }, false, ['Token CI created the project']],
  ['from the dashboard', { via: 'dashboard' }, false, ['ada@example.com created the project', 'Dashboard']],
  ['from the command line', { via: 'cli' }, false, ['ada@example.com created the project', 'Command line']],
  ['from an agent', { via: 'agent' }, false, ['ada@example.com created the project', 'Coding agent']],
  ['from a network', { client_ip: '203.0.113.0' }, false, ['ada@example.com created the project', '203.0.113.0']],
  ['from this machine', { client_ip: '127.0.0.0' }, false, ['ada@example.com created the project']],
  ['with several facts', { via: 'api', client_ip: '203.0.113.0' }, true, ['ada@example.com created the project', 'shop · API · 203.0.113.0']],
])('an entry %s', (_, own, hasProjects, expected) => {
  renderList(own, hasProjects)
  const [, what, when] = screen.getByRole('listitem').children
  expect([...(what?.children ?? [])].map(({ textContent }) => textContent)).toEqual(expected)
  expect(when?.textContent).toBe('Jan 31, 2026')
})

test.each<[string, Partial<ActivityEntry>, string | null]>([
  ['to its page', { action: 'env_vars.set' }, '/projects/shop/environment'],
  ['to its deployment', { action: 'deployment.ready', target: { id: 'dpl_1', name: null } }, '/projects/shop/deployments/dpl_1'],
  ['to the project, if its deployment is unknown', { action: 'deployment.ready', target: { id: 'hook_1', name: null } }, '/projects/shop'],
  ['to the page of variables, also with a deployment', { action: 'env_vars.set', target: { id: 'dpl_1', name: null } }, '/projects/shop/environment'],
  ['to the log of a crash', { action: 'project.crashed' }, '/projects/shop/logs'],
  ['to the project', { action: 'project.updated' }, '/projects/shop'],
  ['nowhere without a project', { project: null }, null],
  ['nowhere, if its project is deleted', { action: 'project.deleted' }, null],
])('an entry leads %s', (_, own, expected) => {
  renderList(own)
  expect(screen.queryByRole('link')?.getAttribute('href') ?? null).toBe(expected)
})

const system = { ...ada, kind: 'system' } as const
test.each<[string, Partial<ActivityEntry>, string]>([
  ['a person', {}, 'user-round'],
  ['a token', { actor: { ...ada, kind: 'token' } }, 'bot'],
  ['a push', { actor: { ...ada, kind: 'push' } }, 'git-commit-horizontal'],
  ['a schedule', { actor: { ...ada, kind: 'schedule' } }, 'calendar-clock'],
  ['Homeport', { actor: system }, 'ship'],
  ['a deployment that is ready', { actor: system, action: 'deployment.ready' }, 'circle-check'],
  ['a domain that is verified', { actor: system, action: 'domain.verified' }, 'circle-check'],
  ['a person who verified a domain', { action: 'domain.verified' }, 'user-round'],
  ['a failure', { actor: system, action: 'deployment.failed' }, 'circle-alert'],
  ['a crash', { action: 'project.crashed' }, 'circle-alert'],
])('the icon of %s', (_, own, icon) => {
  renderList(own)
  expect(document.querySelector('li svg')?.getAttribute('class')).toContain(`lucide-${icon}`)
})

test('the user reads “You” for their own changes', () => {
  expect(renderView({ entries: [createEntry()] }).text()).toContain('You created the project')
})

test('the activity of all projects names them, and filters by project', () => {
  const { text } = renderView({ entries: [createEntry()] })
  expect(text()).toContain('shop')
  expect(screen.getByRole('combobox', { name: /project/i })).toBeTruthy()
})

test('the activity of a project does not', () => {
  const { text } = renderView({ slug: 'shop', entries: [createEntry()] })
  expect(text()).toMatch(/^\[Changed by\] \[Kind\] \[Activity\] You created the projectJan 31, 2026$/)
})

test('the activity loads', () => expect(renderView({ slug: 'shop' }).text()).toBe('[Changed by] [Kind] [Activity] Loading'))

test('without entries the page says what is listed', () => {
  expect(renderView({ slug: 'shop', entries: [] }).text()).toBe(
    '[Changed by] [Kind] [Activity] No activity yet Every change, deployment and crash is listed here, with who or what caused it.',
  )
})

test('filters of the address are applied and can be cleared', async () => {
  history.replaceState(null, '', '?actor=push&action=deployment.&project=shop')
  const filters = { actor: 'push', action: 'deployment.', project: 'shop' }
  const { user, text } = renderView({ filters, entries: [] })
  expect([valueOf('Changed by'), valueOf('Kind')]).toEqual(['push', 'deployment.'])
  expect(text()).toContain('Clear filters [Activity] No changes match Clear a filter to see more.')
  await user.click(screen.getByRole('button', { name: 'Clear filters' }))
  expect(location.search).toBe('')
})

test('unknown filters of the address are ignored', () => {
  history.replaceState(null, '', '?actor=ghost&action=x&project=')
  renderView({ entries: [createEntry()] })
  expect(screen.queryByRole('button', { name: 'Clear filters' })).toBeNull()
  expect(screen.getByText('You created the project')).toBeTruthy()
})

test('filters are written to the address', async () => {
  const { user } = renderView()
  await user.selectOptions(screen.getByLabelText('Changed by'), 'API tokens')
  await user.selectOptions(screen.getByLabelText('Kind'), 'Variables')
  expect(search()).toEqual({ actor: 'token', action: 'env_vars.' })
  await user.selectOptions(screen.getByRole('combobox', { name: /project/i }), 'Shop')
  expect(search()).toEqual({ actor: 'token', action: 'env_vars.', project: 'shop' })
  await user.selectOptions(screen.getByLabelText('Kind'), 'All changes')
  expect(search()).toEqual({ actor: 'token', project: 'shop' })
})

test('more entries are loaded on request', async () => {
  const answers: PartOptions['answers'] = {
    listProjectActivity: { entries: [createEntry({ id: 'act_2', action: 'project.stopped' })], next_cursor: null },
  }
  const { user } = renderView({ slug: 'shop', entries: [createEntry()], next_cursor: 'next', answers })
  await user.click(screen.getByRole('button', { name: 'Load more' }))
  expect(await screen.findByText('You stopped the project')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Load more' })).toBeNull()
})

test('activity that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { listActivity: problemResponse('forbidden', 'Not for you.') }
  const { user } = renderView({ answers })
  expect(await screen.findByText('Not for you.')).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Activity' })).toBeNull()
  answers.listActivity = { entries: [createEntry()], next_cursor: null }
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(screen.getByRole('region', { name: 'Activity' })).toBeTruthy())
  expect(screen.queryByText('Not for you.')).toBeNull()
})

test('the pages have titles', () => {
  const known: PartOptions['data'] = [[queryKeys.project('shop'), createExample(project, { name: 'Shop' })]]
  expect(renderPart(<ActivityPage />).text()).toMatch(/^Activity /)
  expect(document.title).toBe('Activity · Homeport')
  renderPart(<ProjectActivityPage slug="blog" />)
  expect(document.title).toBe('Activity · blog · Homeport')
  renderPart(<ProjectActivityPage slug="shop" />, { data: known })
  expect(document.title).toBe('Activity · Shop · Homeport')
})
