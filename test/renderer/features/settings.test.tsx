import { fireEvent, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import SettingsPage from '../../../renderer/features/settings/page.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { allOperations } from '../../../server/contract/index.ts'
import { projectSettings, type ProjectSettings } from '../../../server/contract/project-settings.ts'
import { project, type Project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createProject = (own: Partial<Project> = {}) =>
  createExample(project, {
    slug: 'my-shop',
    name: 'My shop',
    repo_url: null,
    repo_branch: 'main',
    is_connected: false,
    root_directory: '.',
    node_version: 'auto',
    install_command: 'auto',
    build_command: 'npm run build',
    memory_limit_mb: 512,
    status: 'live',
    ...own,
  })
const createSettings = (own: Partial<ProjectSettings> = {}) =>
  createExample(projectSettings, {
    health_path: '/',
    health_timeout_s: 60,
    cpu_limit: 2,
    watch_paths: [],
    public_ports: [8081],
    apps: ['web', 'api'],
    replicas: 2,
    autoscaling: null,
    sticky_sessions: false,
    node_labels: [],
    ...own,
  })
const createSession = (runtime: string) => {
  const session = createExample(allOperations.getSession.success.json)
  return { ...session, instance: { ...session.instance, runtime: { ...session.instance.runtime, name: runtime } } }
}

interface PageState {
  project?: Partial<Project>
  settings?: Partial<ProjectSettings> | null
  runtime?: string
  answers?: NonNullable<PartOptions['answers']>
}
function openPage({ project: own = {}, settings = {}, runtime = 'docker', answers = {} }: PageState = {}) {
  const opened = createProject(own)
  return renderPart(<SettingsPage slug="my-shop" />, {
    data: [
      [queryKeys.project('my-shop'), opened],
      [queryKeys.projectSettings('my-shop'), settings && { settings: createSettings(settings), cpus: 8 }],
      [queryKeys.session, createSession(runtime)],
      [queryKeys.latest('my-shop'), createExample(deployment, { framework: 'nextjs' })],
    ],
    answers: { updateProject: { project: opened }, updateProjectSettings: { settings: createSettings(settings ?? {}), cpus: 8 }, ...answers },
  })
}
const field = (label: string) => screen.getByLabelText(label)
const fill = (label: string, value: string) => fireEvent.change(field(label), { target: { value } })
const save = () => fireEvent.submit(screen.getByRole('form', { name: 'Settings' }))
const toast = () => useUi.getState().toasts.map(({ kind, text }) => ({ kind, text }))
const change = (operation: string, body: object) => [{ operation, params: { slug: 'my-shop' }, body }]

test.each<[string, string, string, object]>([
  ['Name', 'Shop', 'updateProject', { name: 'Shop' }],
  ['Repository', ' https://git.example.com/shop.git ', 'updateProject', { repo_url: 'https://git.example.com/shop.git' }],
  ['Branch', 'next', 'updateProject', { repo_branch: 'next' }],
  ['Root directory', 'apps/web', 'updateProject', { root_directory: 'apps/web' }],
  ['Node version', '22', 'updateProject', { node_version: '22' }],
  ['Install command', 'npm ci', 'updateProject', { install_command: 'npm ci' }],
  ['Build command', '', 'updateProject', { build_command: 'auto' }],
  ['Memory (MB)', '256', 'updateProject', { memory_limit_mb: 256 }],
  ['Apps', ' web \n\n admin', 'updateProjectSettings', { apps: ['web', 'admin'] }],
  ['Watch paths', 'src/**\n', 'updateProjectSettings', { watch_paths: ['src/**'] }],
  ['CPU (cores)', '0.5', 'updateProjectSettings', { cpu_limit: 0.5 }],
  ['CPU (cores)', '', 'updateProjectSettings', { cpu_limit: null }],
  ['Replicas', '3', 'updateProjectSettings', { replicas: 3 }],
  ['Node labels', 'disk=ssd, zone=a ', 'updateProjectSettings', { node_labels: ['disk=ssd', 'zone=a'] }],
  ['Additional ports', '9090,9091', 'updateProjectSettings', { public_ports: [9090, 9091] }],
  ['Path', '/healthz', 'updateProjectSettings', { health_path: '/healthz' }],
  ['Timeout (seconds)', '30', 'updateProjectSettings', { health_timeout_s: 30 }],
])('%s is saved as %j', async (label, value, operation, body) => {
  const { sent } = openPage({ runtime: 'swarm' })
  fill(label, value)
  save()
  await expect.poll(toast).toEqual([{ kind: 'done', text: 'Settings saved.' }])
  expect(sent).toEqual(change(operation, body))
})

test.each<[string, string, object]>([
  ['Always warm', 'updateProject', { always_warm: true }],
  ['Edge cache', 'updateProject', { caching_enabled: false }],
  ['Traces', 'updateProjectSettings', { tracing: false }],
  ['Sticky sessions', 'updateProjectSettings', { sticky_sessions: true }],
  ['Autoscaling', 'updateProjectSettings', { autoscaling: { min: 2, max: 3, target_concurrency: 20 } }],
])('switching %s', async (name, operation, body) => {
  const { sent, user } = openPage({ project: { always_warm: false, caching_enabled: true }, settings: { tracing: true } })
  await user.click(screen.getByRole('switch', { name }))
  save()
  await expect.poll(() => sent).toEqual(change(operation, body))
})

test('an empty repository is none, and the form has nothing to save at first', async () => {
  const { sent, text } = openPage({ project: { repo_url: 'https://git.example.com/shop.git' } })
  expect(text()).toContain('All changes saved Discard Save')
  expect(screen.getByRole('button', { name: 'Save' })).toHaveProperty('disabled', true)
  expect(screen.getByRole('button', { name: 'Discard' })).toHaveProperty('disabled', true)
  save()
  expect(sent).toEqual([])
  fill('Repository', ' ')
  expect(text()).toContain('Unsaved changes Discard Save')
  expect(screen.getByRole('button', { name: 'Save' })).toHaveProperty('disabled', false)
  save()
  await expect.poll(() => sent).toEqual(change('updateProject', { repo_url: null }))
})

test('both kinds of settings are saved with one request each, and changes can be discarded', async () => {
  const { sent, user } = openPage()
  fill('Name', 'Shop')
  fill('Path', '/up')
  save()
  await expect.poll(() => sent).toEqual([...change('updateProject', { name: 'Shop' }), ...change('updateProjectSettings', { health_path: '/up' })])
  await expect.poll(toast).toHaveLength(1)
  fill('Branch', 'next')
  await user.click(screen.getByRole('button', { name: 'Discard' }))
  expect(field('Branch')).toHaveProperty('value', 'main')
})

test.each([
  [128, { kind: 'failed', text: 'Memory was set to 128 MB, the limit of your plan.' }],
  [256, { kind: 'done', text: 'Settings saved.' }],
])('memory of 256 MB, of which the plan allows %i MB', async (memory_limit_mb, expected) => {
  openPage({ answers: { updateProject: { project: createProject({ memory_limit_mb }) } } })
  fill('Memory (MB)', '256')
  save()
  await expect.poll(toast).toEqual([expected])
})

test.each<[string, Partial<Project>, string, boolean]>([
  ['the branch of a live project', {}, 'Branch', true],
  ['the branch of a project that was never deployed', { status: 'created' }, 'Branch', false],
  ['the branch of a project without a repository', { is_connected: false }, 'Branch', false],
  ['the name, which applies at once', {}, 'Name', false],
])('whether to redeploy after a change of %s', async (_, own, label, isOffered) => {
  const { sent, user } = openPage({ project: { is_connected: true, ...own } })
  fill(label, 'next')
  save()
  await expect.poll(toast).toHaveLength(1)
  expect(screen.queryByRole('button', { name: 'Redeploy' }) !== null).toBe(isOffered)
  if (!isOffered) return
  await user.click(screen.getByRole('button', { name: 'Redeploy' }))
  expect(sent.at(-1)).toMatchObject({ operation: 'deployProject', params: { slug: 'my-shop' } })
  fill('Branch', 'other')
  expect(screen.queryByRole('button', { name: 'Redeploy' })).toBeNull()
})

test('a redeployment opens', async () => {
  const answers = { deployProject: { deployment_id: 'dpl_9', status: 'queued' as const, deployment: createExample(deployment, { id: 'dpl_9' }) } }
  const { user } = openPage({ project: { is_connected: true }, answers })
  fill('Branch', 'next')
  save()
  await user.click(await screen.findByRole('button', { name: 'Redeploy' }))
  await expect.poll(() => location.pathname).toBe('/projects/my-shop/deployments/dpl_9')
})

test('a setting that needs a paid plan has the error, and other errors are below the form', async () => {
  const { text, user } = openPage({ answers: { updateProject: problemResponse('paid_plan_required', 'Choose a paid plan.') } })
  await user.click(screen.getByRole('switch', { name: 'Always warm' }))
  save()
  expect((await screen.findByRole('alert')).textContent).toBe('Choose a paid plan.')
  expect(text()).not.toContain('paid_plan_required')
  expect(toast()).toEqual([])
})

test('an error of the other settings is below the form', async () => {
  const { text } = openPage({ answers: { updateProjectSettings: problemResponse('plan_limit_reached', 'Your plan has 2 replicas.') } })
  fill('Replicas', '9')
  save()
  expect((await screen.findByRole('alert')).textContent).toContain('Your plan has 2 replicas.')
  expect(text()).toContain('plan_limit_reached')
})
