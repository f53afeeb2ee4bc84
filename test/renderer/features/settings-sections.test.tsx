import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DeployHooksSection } from '../../../renderer/features/settings/deploy-hooks.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployHook, type DeployHook } from '../../../server/contract/deploy-hooks.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

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

afterEach(() => {
  useUi.setState({ toasts: [] })
  history.replaceState(null, '', '/app/')
})

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
