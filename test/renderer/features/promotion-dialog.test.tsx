import { QueryClient } from '@tanstack/react-query'
import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { PromoteDialog } from '../../../renderer/features/promotion/promote-dialog.tsx'
import { type InstanceConnection, localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { type Promotion, usePromotions } from '../../../renderer/stores/promotions.ts'
import { emptyInventory } from '../../../server/client/promotion/inventory.ts'
import type { SourceProject, TargetProject } from '../../../server/client/promotion/sides.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import { createPromotion } from '../../support/promotion.ts'

const createRemote = (id: string, own: Partial<InstanceConnection> = {}): InstanceConnection => ({
  ...localConnection,
  cache: new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } }),
  id,
  name: id,
  origin: `https://${id}.example.com`,
  ...own,
})
const createProject = (own: Partial<Project> = {}) =>
  createExample(project, { slug: 'my-shop', name: 'My shop', status: 'live', is_cold: false, repo_url: null, ...own })
const ready = createExample(deployment, {
  id: 'dpl_1',
  number: 3,
  commit_message: 'Add cart',
  commit_sha: 'abc',
  commit_author: null,
  is_dirty: false,
})
const side = { variables: [], domains: [], inventory: emptyInventory, runtime: null, is_instance: true }
const createSource = (own: Partial<SourceProject> = {}): SourceProject => ({ ...side, project: createProject(), deployment: ready, ...own })
const createTarget = (own: Partial<TargetProject> = {}): TargetProject => ({
  ...side,
  project: null,
  plan: 'pro',
  is_full: false,
  follows_pushes: false,
  ...own,
})
interface DialogState {
  kind?: 'promote' | 'pull'
  remotes?: InstanceConnection[]
  source?: SourceProject | null
  target?: TargetProject | null
  answers?: PartOptions['answers']
}
function openDialog({
  kind = 'promote',
  remotes = [createRemote('server')],
  source = createSource(),
  target = createTarget(),
  answers = {},
}: DialogState = {}) {
  const current = kind === 'pull' ? (remotes[0] ?? localConnection) : localConnection
  useConnection.setState({ connections: [localConnection, ...remotes], current })
  const to = kind === 'pull' ? localConnection : remotes[0]
  current.cache.setQueryData(['promote-source', current.id, 'my-shop', null], source ?? undefined)
  to?.cache.setQueryData(['promote-target', to.id, 'my-shop'], target ?? undefined)
  to?.cache.setQueryData(['promote-projects', to.id], [createProject(), createProject({ id: 'prj_2', slug: 'docs', name: 'Docs' })])
  const onOpenChange = vi.fn()
  const part = renderPart(<PromoteDialog slug="my-shop" name="My shop" kind={kind} deploymentId={null} onOpenChange={onOpenChange} />, { answers })
  return { ...part, onOpenChange }
}
const button = (name: string) => screen.getByRole('button', { name })
const submit = () => fireEvent.submit(document.querySelector('form') ?? document.body)
afterEach(() => usePromotions.setState({ promotions: [] }))

test('without another instance there is nothing to promote to', () => {
  expect(openDialog({ remotes: [] }).text()).toBe(
    'Promote My shop Builds and deploys the current version on another instance. Review the differences first. No other instance yet Connect another Homeport or your hosted account with its URL and a token to promote this app. Add instance [Close]',
  )
})

test('a project that is pulled to this machine', () => {
  const { text } = openDialog({ kind: 'pull' })
  expect(text()).toMatch(
    /^Pull My shop to this machine Builds and deploys the current version from server on this machine\. Review the differences first\. Instance on This machine /,
  )
  expect(text()).toContain('What is pulled Add cart#3')
  expect(button('Pull to this machine')).toHaveProperty('disabled', false)
})

test.each<[string, Partial<Promotion>, boolean]>([
  ['in progress', {}, true],
  ['done', { state: 'done' }, false],
  ['in progress for another project', { key: 'local docs' }, false],
])('a promotion that is %s', (_, own, isRunning) => {
  usePromotions.setState({ promotions: [createPromotion(own)] })
  expect(openDialog().text().includes('A promotion of this project is already in progress.')).toBe(isRunning)
})

test.each<[string, DialogState, string]>([
  ['a new project', {}, 'No project has this slug. A new project is created.'],
  ['an existing project', { target: createTarget({ project: createProject() }) }, 'my-shop exists (“My shop”, live). It gets a new deployment.'],
  ['a project that is loading', { target: null }, 'The slug of an existing project, or of a new one.'],
])('the hint of the target: %s', (_, state, hint) => {
  const { text } = openDialog(state)
  expect(text()).toContain(`Target project my-shop ${hint}`)
  expect(screen.queryByText('Loading') !== null).toBe(state.target === null)
  expect(button('Promote to server')).toHaveProperty('disabled', state.target === null)
})

test('an instance without a token cannot be chosen', async () => {
  const remotes = [createRemote('server', { is_signed_in: false }), createRemote('cloud')]
  remotes[1]?.cache.setQueryData(['promote-target', 'cloud', 'my-shop'], createTarget())
  const { text, user } = openDialog({ remotes })
  expect(text()).toContain('Instance on server Token required. on cloud https://cloud.example.com')
  expect(screen.getByRole('radio', { name: /^server/ })).toMatchObject({ disabled: true, checked: false })
  expect(screen.getByRole('radio', { name: /^cloud/ })).toMatchObject({ disabled: false, checked: true })
  expect(button('Promote to cloud')).toHaveProperty('disabled', false)
  await user.click(button('Cancel'))
})

test('another instance is chosen, and compared with its own project', async () => {
  const remotes = [createRemote('server'), createRemote('cloud')]
  remotes[0]?.cache.setQueryData(['promote-target', 'cloud', 'my-shop'], createTarget())
  const { user, text } = openDialog({ remotes, target: createTarget({ project: createProject() }) })
  expect(button('Promote to server')).toBeTruthy()
  expect(text()).toContain('my-shop exists (“My shop”, live).')
  await user.click(screen.getByRole('radio', { name: /^cloud/ }))
  expect(text()).toContain('No project has this slug. A new project is created.')
  expect(screen.getByRole('radio', { name: /^cloud/ })).toHaveProperty('checked', true)
  expect(button('Promote to cloud')).toBeTruthy()
})

const git = 'https://git.example.com/shop.git'
test.each<[string, Partial<SourceProject>, Partial<TargetProject>, string, string | null]>([
  ['a deployment', {}, {}, 'What is promoted Add cart#3', null],
  ['no deployment', { deployment: null }, {}, 'What is promoted No deployment yet.', 'This project has no ready deployment. Deploy it first.'],
  [
    'a hosted account with a repository',
    { is_instance: false, project: createProject({ repo_url: git, repo_branch: 'main' }) },
    {},
    `What is promoted The latest commit of main of ${git}: this instance does not provide sources, so the project is created from its repository.`,
    null,
  ],
  [
    'a hosted account with the repository of the target',
    { is_instance: false, project: createProject({ repo_url: git }) },
    { project: createProject({ repo_url: git }) },
    'What is promoted The latest commit',
    null,
  ],
  [
    'a hosted account with another repository',
    { is_instance: false, project: createProject({ repo_url: git }) },
    { project: createProject({ slug: 'docs' }) },
    'What is promoted The latest commit',
    'The project docs is not connected to that repository. Choose another slug to create a new project.',
  ],
  [
    'a hosted account without a repository',
    { is_instance: false, deployment: ready },
    {},
    'What is promoted Add cart#3',
    'This machine does not provide sources and this project has no Git URL, so it cannot be copied from there. Deploy it from its source instead.',
  ],
])('from %s', (_, from, to, summary, blocker) => {
  const { text } = openDialog({ source: createSource(from), target: createTarget(to) })
  expect(text()).toContain(summary)
  expect(screen.queryByRole('alert')?.textContent ?? null).toBe(blocker)
  expect(button('Promote to server')).toHaveProperty('disabled', blocker !== null)
  if (blocker === null) return
  submit()
  expect(usePromotions.getState().promotions).toEqual([])
})

test('why the source or the target cannot be loaded', async () => {
  const { text } = openDialog({
    source: null,
    answers: {
      getProject: problemResponse('forbidden', 'The token is not allowed to read it.'),
      getSession: problemResponse('forbidden', 'The token is not allowed to read it.'),
      listDeployments: { deployments: [], next_cursor: null },
    },
  })
  await expect.poll(text).toContain('The token is not allowed to read it.')
  expect(text()).not.toContain('Loading')
})
const started = () => usePromotions.getState().promotions.map(({ key, to, steps }) => ({ key, to: to.slug, steps: steps.map(({ name }) => name) }))

test('a promotion starts with its steps, and the dialog closes', async () => {
  const variables = [{ key: 'API_URL', environment: null }]
  const { user, onOpenChange } = openDialog({ source: createSource({ variables }) })
  await user.click(screen.getByRole('checkbox', { name: 'API_URL' }))
  submit()
  await expect.poll(started).toEqual([{ key: 'local my-shop', to: 'my-shop', steps: ['source', 'project', 'variables', 'upload'] }])
  expect(onOpenChange.mock.calls).toEqual([[false]])
  const [stored] = JSON.parse(localStorage.getItem('homeport.promotions') ?? '[]')
  expect(stored).toMatchObject({
    request: {
      source: { kind: 'archive', deployment_id: 'dpl_1', commit: { commit_sha: 'abc', commit_message: 'Add cart' } },
      new_name: 'My shop',
      variables: ['API_URL'],
    },
  })
})
test.each<[string, Partial<SourceProject>, Partial<TargetProject>, object]>([
  [
    'of a folder',
    { deployment: { ...ready, commit_sha: null, commit_message: null, commit_author: 'Ada' } },
    {},
    { kind: 'archive', deployment_id: 'dpl_1', commit: { commit_message: 'Promoted from This machine', commit_author: 'Ada' } },
  ],
  ['to a hosted account', {}, { is_instance: false, project: createProject() }, { kind: 'archive', deployment_id: 'dpl_1' }],
  [
    'of a repository',
    { is_instance: false, project: createProject({ repo_url: git, repo_branch: 'main' }) },
    { project: createProject({ repo_url: git }) },
    { kind: 'git', repo_url: git, repo_branch: 'main' },
  ],
])('the source of a promotion %s', async (_, from, to, expected) => {
  openDialog({ source: createSource(from), target: createTarget(to) })
  submit()
  await expect.poll(started).toHaveLength(1)
  const [stored] = JSON.parse(localStorage.getItem('homeport.promotions') ?? '[]')
  expect(stored.request.source).toEqual(expected)
  expect(stored.request.new_name).toBe(to.project ? null : 'My shop')
})
