import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ProjectActions } from '../../../renderer/features/project/project-actions.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const session = (is_instance_owner: boolean) => {
  const { user, instance, ...others } = createExample(instanceOperations.getSession.success.json)
  return { ...others, user: { ...user, is_instance_owner }, instance: { ...instance, edge_url: 'http://localhost:4780', apps_url: null } }
}
const createProject = (own: Partial<Project> = {}) => createExample(project, own)
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { id: 'dpl_2', number: 2, status: 'ready', ...own })
const queued = { deployment_id: 'dpl_9', status: 'queued', deployment: createDeployment({ id: 'dpl_9', status: 'queued' }) } as const

interface State {
  project?: Partial<Project>
  latest?: Deployment | null
  serving?: Deployment | null
  isOwner?: boolean
  answers?: PartOptions['answers']
}
const showActions = ({ project: own = {}, latest = createDeployment(), serving = createDeployment(), isOwner = false, answers = {} }: State = {}) =>
  renderPart(<ProjectActions project={createProject(own)} />, {
    data: [
      [queryKeys.session, session(isOwner)],
      [queryKeys.latest('my-shop'), latest],
      [queryKeys.serving('my-shop'), serving],
    ],
    answers,
  })
const openMenu = async (state: State = {}) => {
  const part = showActions(state)
  await part.user.click(screen.getByRole('button', { name: 'More actions' }))
  return part
}
const choose = (name: string) => screen.getByRole('menuitem', { name })
const readMenu = () =>
  screen.getAllByRole('menuitem').map((item) => `${item.textContent}${item.getAttribute('aria-disabled') === 'true' ? ' (disabled)' : ''}`)
const remote = { ...localConnection, id: 'remote_1' }

test.each<[string, State, string]>([
  ['a live project', {}, 'Deploy without cache, Upload archive…, Open terminal, Roll back…, Restart, Stop…, Delete…'],
  [
    'a live project, for the owner of the instance',
    { isOwner: true },
    'Deploy without cache, Upload archive…, Open terminal, Roll back…, Promote…, Restart, Stop…, Delete…',
  ],
  [
    'a stopped project',
    { project: { status: 'inactive' }, serving: null },
    'Deploy without cache, Upload archive…, Open terminal (disabled), Roll back…, Restart (disabled), Stop… (disabled), Delete…',
  ],
  [
    'a new project with a repository',
    { project: { status: 'created' }, latest: null, serving: null },
    'Deploy without cache, Upload archive…, Open terminal (disabled), Roll back… (disabled), Restart (disabled), Stop… (disabled), Delete…',
  ],
  [
    'a new project without a repository',
    { project: { status: 'created', is_connected: false }, latest: null, serving: null },
    'Deploy without cache (disabled), Upload archive…, Open terminal (disabled), Roll back… (disabled), Restart (disabled), Stop… (disabled), Delete…',
  ],
  [
    'a project without a repository that failed',
    { project: { status: 'failed', is_connected: false }, serving: null },
    'Deploy without cache, Upload archive…, Open terminal (disabled), Roll back…, Restart (disabled), Stop…, Delete…',
  ],
])('the actions of %s', async (_, state, expected) => {
  await openMenu(state)
  expect(readMenu().join(', ')).toBe(expected)
})

test.each([
  [
    'with a session',
    session(false),
    'Deploy without cache, Upload archive…, Open terminal (disabled), Roll back… (disabled), Pull to this machine…, Restart (disabled), Stop…, Delete…',
  ],
  ['without a session', null, 'Upload archive…, Roll back… (disabled), Pull to this machine…, Restart (disabled), Stop…, Delete…'],
])('the actions on another instance %s', async (_, value, expected) => {
  useConnection.setState({ connections: [localConnection, remote], current: remote })
  const { user } = renderPart(<ProjectActions project={createProject()} />, { data: [[queryKeys.session, value]] })
  await user.click(screen.getByRole('button', { name: 'More actions' }))
  expect(readMenu().join(', ')).toBe(expected)
})

test.each<[string, State, number]>([
  ['live', {}, 1],
  ['not live', { serving: null }, 0],
])('a project that is %s', (_, state, links) => {
  showActions(state)
  expect(screen.queryAllByRole('link', { name: 'Open' }).length).toBe(links)
})

test('a project with a repository is deployed, and its deployment opens', async () => {
  const { user, sent } = showActions({ answers: { deployProject: queued } })
  await user.click(screen.getByRole('button', { name: 'Deploy' }))
  expect(sent).toEqual([{ operation: 'deployProject', params: { slug: 'my-shop' } }])
  await waitFor(() => expect(location.pathname).toBe('/projects/my-shop/deployments/dpl_9'))
})

test.each([
  ['the owner of the instance', true, 'Deploy My shop'],
  ['another user', false, 'Upload to My shop'],
])('without a repository, %s chooses a source', async (_, isOwner, title) => {
  const { user, sent } = showActions({ project: { is_connected: false }, isOwner })
  await user.click(screen.getByRole('button', { name: 'Deploy' }))
  expect(screen.getByRole('dialog', { name: title })).toBeTruthy()
  expect(sent).toEqual([])
})

test.each<[string, State, object]>([
  ['its repository', {}, { no_cache: true }],
  ['its current source', { project: { is_connected: false }, latest: createDeployment({ id: 'dpl_3' }) }, { no_cache: true, deployment_id: 'dpl_2' }],
  ['its latest source', { project: { is_connected: false }, serving: null }, { no_cache: true, deployment_id: 'dpl_2' }],
])('a project is deployed without cache from %s', async (_, state, body) => {
  const { user, sent } = await openMenu({ ...state, answers: { createDeployment: queued } })
  await user.click(choose('Deploy without cache'))
  expect(sent).toEqual([{ operation: 'createDeployment', params: { slug: 'my-shop' }, body }])
  await waitFor(() => expect(location.pathname).toBe('/projects/my-shop/deployments/dpl_9'))
})

test('the current version is restarted by a rollback to itself', async () => {
  const { user, sent } = await openMenu()
  await user.click(choose('Restart'))
  expect(sent).toEqual([{ operation: 'rollbackDeployment', params: { slug: 'my-shop', id: 'dpl_2' } }])
})

test('the terminal opens', async () => {
  const { user } = await openMenu()
  await user.click(choose('Open terminal'))
  expect(location.pathname).toBe('/projects/my-shop/terminal')
})

test('a project is stopped after a question', async () => {
  const { user, sent, text } = await openMenu({ answers: { stopProject: { ok: true, status: 'inactive' } } })
  await user.click(choose('Stop…'))
  expect(text()).toContain('Stop My shop? Visitors see a page')
  await user.click(screen.getByRole('button', { name: 'Stop project' }))
  expect(sent).toEqual([{ operation: 'stopProject', params: { slug: 'my-shop' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

test('a failure to stop is shown until the dialog closes', async () => {
  const { user, text } = await openMenu({ answers: { stopProject: problemResponse('project_not_found', 'There is no such project.') } })
  await user.click(choose('Stop…'))
  await user.click(screen.getByRole('button', { name: 'Stop project' }))
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'More actions' }))
  await user.click(choose('Stop…'))
  expect(text()).not.toContain('There is no such project.')
})

test('a project is deleted by its name, and the projects open', async () => {
  const { user, sent } = await openMenu({ answers: { deleteProject: new Response(null, { status: 204 }) } })
  await user.click(choose('Delete…'))
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Delete project' })
  await user.type(screen.getByRole('textbox', { name: 'Type my-shop to confirm' }), 'my-sho')
  expect(button.disabled).toBe(true)
  await user.type(screen.getByRole('textbox'), 'p{Enter}')
  expect(sent).toEqual([{ operation: 'deleteProject', params: { slug: 'my-shop' } }])
  await waitFor(() => expect(location.pathname).toBe('/'))
})

test.each([
  ['upload', 'Upload to My shop'],
  ['stop', 'Stop My shop?'],
  ['rollback', 'Roll back'],
  ['delete', 'Delete My shop?'],
])('an address with “do=%s” opens its dialog, and closing it leaves the address', async (name, title) => {
  history.replaceState(null, '', `/app/?do=${name}`)
  const { user } = showActions()
  expect(screen.getByRole('dialog', { name: title })).toBeTruthy()
  await user.keyboard('{Escape}')
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(location.search).toBe('')
})

test('an address with another value opens no dialog', () => {
  history.replaceState(null, '', '/app/?do=folder')
  showActions()
  expect(screen.queryByRole('dialog')).toBeNull()
})
