import { fireEvent, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DeployHooksSection } from '../../../renderer/features/settings/deploy-hooks.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployHook, type DeployHook } from '../../../server/contract/deploy-hooks.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'
import SettingsPage from '../../../renderer/features/settings/page.tsx'
import { RegistriesSection } from '../../../renderer/features/settings/registries.tsx'
import { projectSettings } from '../../../server/contract/project-settings.ts'
import { registry } from '../../../server/contract/registries.ts'

type Answers = NonNullable<PartOptions['answers']>
const createProject = (own: Partial<Project> = {}) => createExample(project, { slug: 'my-shop', name: 'My shop', repo_branch: 'main', ...own })
const createHook = (own: Partial<DeployHook> = {}) =>
  createExample(deployHook, { id: 'hook_1', name: 'CMS', branch: null, last4: 'a1b2', last_used_at: null, ...own })
const openHooks = (hooks: DeployHook[] | null, answers: Answers = {}) =>
  renderPart(<DeployHooksSection project={createProject()} />, {
    data: hooks ? [[queryKeys.deployHooks('my-shop'), { deploy_hooks: hooks }]] : [],
    answers,
  })
const button = (name: string) => screen.getByRole('button', { name })
const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } })
const submit = () => fireEvent.submit(document.querySelector('[role=dialog] form') ?? document.body)
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)

const aboutHooks = 'A URL that deploys the newest commit of a branch when it is called, for example by a CMS. How it works'
test.each<[string, DeployHook[] | null, string]>([
  ['loading', null, ''],
  ['none', [], `Deploy hooks Create hook ${aboutHooks}`],
  [
    'some',
    [createHook(), createHook({ id: 'hook_2', name: 'Docs', branch: 'docs', last_used_at: '2026-01-31T09:00:00.000Z' })],
    `Deploy hooks Create hook [Deploy hooks] CMSmain (production) · hpd_…a1b2 · never called [Delete CMS] Docsdocs · hpd_…a1b2 · called Jan 31, 2026 [Delete Docs] ${aboutHooks}`,
  ],
])('deploy hooks: %s', (_, hooks, expected) => expect(openHooks(hooks).text()).toBe(expected))

test.each([
  [' Shop ', ' docs ', { name: 'Shop', branch: 'docs' }],
  ['Shop', ' ', { name: 'Shop', branch: null }],
])('a deploy hook %j for the branch %j is created', async (name, branch, body) => {
  const { sent, user } = openHooks([])
  await user.click(button('Create hook'))
  expect(button('Create hook')).toHaveProperty('disabled', true)
  expect(screen.getByLabelText('Branch')).toHaveProperty('placeholder', 'main')
  fill('Name', ' ')
  expect(button('Create hook')).toHaveProperty('disabled', true)
  fill('Name', name)
  fill('Branch', branch)
  expect(button('Create hook')).toHaveProperty('disabled', false)
  submit()
  await expect.poll(() => sent).toEqual([{ operation: 'createDeployHook', params: { slug: 'my-shop' }, body }])
})

test('the URL of a new deploy hook is shown once', async () => {
  const url = 'http://127.0.0.1:4600/hooks/deploy/hpd_1'
  const { text, user } = openHooks([], { createDeployHook: { deploy_hook: createHook(), token: 'hpd_1', url } })
  await user.click(button('Create hook'))
  fill('Name', 'CMS')
  submit()
  expect(await screen.findByText(url)).toBeTruthy()
  expect(text()).toMatch(/^Deploy hook “CMS” Copy the URL now: it is not shown again\. .*\[Copy URL\]/)
})

test('a deploy hook that cannot be created', async () => {
  const { user } = openHooks([], { createDeployHook: problemResponse('too_many_targets', 'Delete a hook first.') })
  await user.click(button('Create hook'))
  fill('Name', 'CMS')
  submit()
  expect((await screen.findByRole('alert')).textContent).toContain('Delete a hook first.')
  expect(toasts()).toEqual([])
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('a deploy hook is deleted after a question', async () => {
  const { sent, text, user } = openHooks([createHook()], { deleteDeployHook: { ok: true } })
  await user.click(button('Delete CMS'))
  expect(text()).toBe('Delete “CMS”? Its URL stops working immediately. Cancel Delete hook [Close]')
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(button('Delete CMS'))
  await user.click(button('Delete hook'))
  expect(sent).toEqual([{ operation: 'deleteDeployHook', params: { slug: 'my-shop', id: 'hook_1' } }])
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
  expect(toasts()).toEqual(['done: Deploy hook deleted.'])
})
const shop = createExample(registry, { host: 'ghcr.io', username: 'shop', created_at: '2026-01-31T09:00:00.000Z' })
const openRegistries = (data: { registries: (typeof shop)[]; docker_login: string[] | null } | null, answers: Answers = {}) =>
  renderPart(<RegistriesSection slug="my-shop" />, { data: data ? [[queryKeys.registries('my-shop'), data]] : [], answers })
const openPage = (own: Partial<Project> = {}, answers: Answers = {}) =>
  renderPart(<SettingsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), createProject(own)],
      [queryKeys.projectSettings('my-shop'), { settings: createExample(projectSettings), cpus: 8 }],
      [queryKeys.deployHooks('my-shop'), { deploy_hooks: [] }],
    ],
    answers,
  })

const aboutRegistries = 'Images of private registries are pulled with these credentials, in builds too. How it works'
test.each<[string, Parameters<typeof openRegistries>[0], string]>([
  ['loading', null, ''],
  ['none', { registries: [], docker_login: null }, `Registries Add registry ${aboutRegistries}`],
  [
    'some, one of which is also signed in with Docker',
    { registries: [shop], docker_login: ['ghcr.io', 'docker.io'] },
    `Registries Add registry [Registries] ghcr.ioshop · added Jan 31, 2026 [Remove ghcr.io] docker.ioSigned in with docker login on this machine ${aboutRegistries}`,
  ],
  [
    'only one that is signed in with Docker',
    { registries: [], docker_login: ['docker.io'] },
    `Registries Add registry [Registries] docker.ioSigned in with docker login on this machine ${aboutRegistries}`,
  ],
])('registries: %s', (_, data, expected) => expect(openRegistries(data).text()).toBe(expected))

test('a registry is added once all fields are filled', async () => {
  const { sent, user } = openRegistries({ registries: [], docker_login: null }, { addRegistry: { registry: shop } })
  await user.click(button('Add registry'))
  const values: [string, string][] = [
    ['Registry', ' ghcr.io '],
    ['User name', ' shop '],
    ['Password or access token', ' secret '],
  ]
  for (const [empty, filled] of values) {
    for (const [label, value] of values) fill(label, value)
    expect(button('Add registry')).toHaveProperty('disabled', false)
    fill(empty, empty.startsWith('Password') ? '' : ' ')
    expect(button('Add registry')).toHaveProperty('disabled', true)
    fill(empty, filled)
  }
  submit()
  await expect
    .poll(() => sent)
    .toEqual([{ operation: 'addRegistry', params: { slug: 'my-shop' }, body: { host: 'ghcr.io', username: 'shop', password: ' secret ' } }])
  await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
  expect(toasts()).toEqual(['done: Registry added. The next deployment uses it.'])
})

test('a registry that cannot be added', async () => {
  const { user } = openRegistries({ registries: [], docker_login: null }, { addRegistry: problemResponse('project_not_found', 'It was deleted.') })
  await user.click(button('Add registry'))
  for (const label of ['Registry', 'User name', 'Password or access token']) fill(label, 'a')
  submit()
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.')
  expect(toasts()).toEqual([])
})

test('a registry is removed after a question', async () => {
  const { sent, text, user } = openRegistries({ registries: [shop], docker_login: null }, { removeRegistry: { ok: true } })
  await user.click(button('Remove ghcr.io'))
  expect(text()).toContain('Remove ghcr.io? Its credentials are deleted.')
  await user.click(button('Remove registry'))
  expect(sent).toEqual([{ operation: 'removeRegistry', params: { slug: 'my-shop', host: 'ghcr.io' } }])
  await expect.poll(toasts).toEqual(['done: Removed ghcr.io.'])
  expect(screen.queryByRole('dialog')).toBeNull()
})

test.each([true, false])('whether the page has deploy hooks: with a repository (%s)', (is_connected) => {
  openPage({ is_connected })
  expect(screen.queryByRole('heading', { name: 'Deploy hooks' }) !== null).toBe(is_connected)
})

test('the build cache is cleared', async () => {
  const { sent, user } = openPage({}, { clearBuildCache: new Response(null, { status: 204 }) })
  await user.click(button('Clear build cache'))
  expect(sent).toEqual([{ operation: 'clearBuildCache', params: { slug: 'my-shop' } }])
  await expect.poll(toasts).toEqual(['done: Build cache cleared. The next build installs everything again.'])
})

test('a project is deleted once its name is typed', async () => {
  const { sent, user } = openPage({}, { deleteProject: new Response(null, { status: 204 }) })
  await user.click(button('Delete project…'))
  expect(button('Delete project')).toHaveProperty('disabled', true)
  fill('Type my-shop to confirm', 'my-sho')
  expect(button('Delete project')).toHaveProperty('disabled', true)
  submit()
  fill('Type my-shop to confirm', 'my-shop')
  expect(sent).toEqual([])
  await user.click(button('Delete project'))
  expect(sent).toEqual([{ operation: 'deleteProject', params: { slug: 'my-shop' } }])
  await expect.poll(toasts).toEqual(['done: My shop deleted.'])
  expect(location.pathname).toBe('/')
})

test('a project that cannot be deleted, and whose error is gone when the dialog opens again', async () => {
  const { user } = openPage({}, { deleteProject: problemResponse('forbidden', 'Only the owner can delete it.') })
  await user.click(button('Delete project…'))
  fill('Type my-shop to confirm', 'my-shop')
  submit()
  expect((await screen.findByRole('alert')).textContent).toContain('Only the owner can delete it.')
  expect(toasts()).toEqual([])
  await user.click(button('Cancel'))
  await user.click(button('Delete project…'))
  expect(screen.queryByText(/Only the owner/)).toBeNull()
})
