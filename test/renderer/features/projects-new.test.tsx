import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import NewProject from '../../../renderer/features/projects/new-project.tsx'
import { SourceForm } from '../../../renderer/features/projects/source-form.tsx'
import { Welcome } from '../../../renderer/features/projects/welcome.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useDroppedSource } from '../../../renderer/stores/dropped-source.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { project } from '../../../server/contract/projects.ts'
import { plannedSource } from '../../../server/contract/source-plans.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, user: { ...session.user, is_instance_owner } }
}
const shop = createExample(project, { slug: 'shop', name: 'shop' })
const apps = ['apps/web', 'apps/api'].map((directory) => ({ directory, name: directory, framework: 'vite' }))
const plan = createExample(plannedSource, { services: [], builds: [], managed: [], problems: [], apps })
const answers = {
  createProject: { project: shop },
  deployProject: { deployment_id: 'dpl_9', status: 'queued', deployment: createExample(deployment, { id: 'dpl_9' }) },
  planRepository: { plan },
  planFolder: { plan },
} as const

afterEach(() => {
  useDroppedSource.getState().setSource(null)
  useUi.setState({ new_project_open: false })
})

const showForm = (isOwner: boolean) => renderPart(<SourceForm />, { data: [[queryKeys.session, createSession(isOwner)]], answers })
const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
const click = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const showPlan = () => screen.queryByRole<HTMLButtonElement>('button', { name: 'Show plan' })
const repo_url = 'https://git.example.com/me/shop.git'

const openPlan = async () => {
  const part = showForm(false)
  expect(showPlan()?.disabled).toBe(true)
  await part.user.type(field('Git URL'), repo_url)
  await part.user.type(field('Branch'), ' next ')
  await part.user.click(click('Show plan'))
  await screen.findByRole('group', { name: 'Other apps in this repository' })
  expect(showPlan()).toBeNull()
  return part
}
const changes = ['createProject', 'updateProject', 'updateProjectSettings', 'deployProject']

test('a repository is planned from its branch', async () => {
  const { sent } = await openPlan()
  expect(sent).toEqual([{ operation: 'planRepository', params: {}, body: { repo_url, repo_branch: 'next', apps: [] } }])
})

test('a folder is planned', async () => {
  const { user, sent } = showForm(true)
  await user.type(field('Folder'), ' /srv/shop')
  await user.click(click('Show plan'))
  expect(await screen.findByText('apps/api', { selector: 'strong' })).toBeTruthy()
  expect(sent).toEqual([{ operation: 'planFolder', params: {}, body: { path: '/srv/shop', apps: [] } }])
})

test('one app of a repository becomes the root directory of its project', async () => {
  const { user, sent, text } = await openPlan()
  await user.click(click('Use this app: apps/web'))
  expect(text()).toContain('Root directory: apps/web')
  await user.click(click('Deploy'))
  await waitFor(() => expect(sent.at(-1)?.operation).toBe('updateProject'))
  expect(sent.filter(({ operation }) => changes.includes(operation))).toEqual([
    { operation: 'createProject', params: {}, body: { name: 'shop', slug: 'shop', repo_url, repo_branch: 'next' } },
    { operation: 'updateProject', params: { slug: 'shop' }, body: { root_directory: 'apps/web' } },
  ])
})

test('several apps of a repository become services of its project', async () => {
  const { user, sent } = await openPlan()
  await user.click(screen.getByRole('checkbox', { name: /apps\/web/ }))
  await user.click(await screen.findByRole('checkbox', { name: /apps\/api/ }))
  await user.click(click('Deploy'))
  await waitFor(() => expect(sent.at(-1)?.operation).toBe('updateProjectSettings'))
  expect(sent.at(-1)).toEqual({ operation: 'updateProjectSettings', params: { slug: 'shop' }, body: { apps: ['apps/web', 'apps/api'] } })
  expect(sent.some(({ operation }) => operation === 'updateProject')).toBe(false)
})

test('all apps are planned again', async () => {
  const { user, sent, text } = await openPlan()
  await user.click(click('Use this app: apps/web'))
  await user.click(click('All apps'))
  expect(text()).not.toContain('Root directory')
  await user.click(click('Deploy'))
  await waitFor(() => expect(location.pathname).toBe('/projects/shop/deployments/dpl_9'))
  expect(sent.filter(({ operation }) => changes.includes(operation)).map(({ operation }) => operation)).toEqual(['createProject', 'deployProject'])
})

test('another source has its own plan', async () => {
  const { user } = await openPlan()
  await user.click(screen.getByRole('radio', { name: 'Archive' }))
  expect(screen.queryByRole('group', { name: 'Other apps in this repository' })).toBeNull()
  expect(showPlan()).toBeNull()
  await user.click(screen.getByRole('radio', { name: 'Git URL' }))
  expect(screen.queryByRole('group', { name: 'Other apps in this repository' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Show plan' }))
  expect(await screen.findByRole('group', { name: 'Other apps in this repository' })).toBeTruthy()
  await user.type(field('Git URL'), '/')
  expect(screen.queryByRole('group', { name: 'Other apps in this repository' })).toBeNull()
  expect(showPlan()).not.toBeNull()
})

test('an instance without plans offers none', () => {
  useConnection.setState({ current: { ...localConnection, id: 'remote_1' } })
  renderPart(<SourceForm />, { data: [[queryKeys.session, null]] })
  expect(showPlan()).toBeNull()
})

const openNewProject = (connections = [localConnection]) => {
  useConnection.setState({ connections })
  useUi.setState({ new_project_open: true })
  return renderPart(<NewProject />, { data: [[queryKeys.session, createSession(false)]] })
}
const remote = { ...localConnection, id: 'remote_1', name: 'Server' }

test('a new project starts with the files that were dropped', () => {
  useDroppedSource.getState().setSource({ kind: 'archive', file: new File(['PK'], 'tide.zip'), type: 'application/zip' })
  openNewProject()
  expect(screen.getByRole('radio', { checked: true }).textContent).toBe('Archive')
  expect([field('Name').value, screen.getByText('tide.zip').tagName]).toEqual(['tide', 'STRONG'])
})

test('a folder that was dropped becomes the source', () => {
  useDroppedSource.getState().setSource({ kind: 'folder', path: '/srv/shop' })
  renderPart(<NewProject />, { data: [[queryKeys.session, createSession(true)]] })
  expect(field('Folder').value).toBe('/srv/shop')
})

test('a file that cannot be deployed is explained', () => {
  useDroppedSource.getState().setSource({ kind: 'fault', text: '“a.txt” is empty.' })
  openNewProject()
  expect(screen.getByRole('alert').textContent).toBe('“a.txt” is empty.')
})

test('a project is pulled from another instance only if there is one', async () => {
  const { user } = openNewProject([localConnection, remote])
  await user.click(click('From another instance…'))
  expect(screen.queryByRole('button', { name: 'Deploy' })).toBeNull()
  await user.click(click('Back'))
  expect(click('Deploy')).toBeTruthy()
})

test('without another instance nothing is pulled', () => {
  openNewProject()
  expect(screen.queryByRole('button', { name: 'From another instance…' })).toBeNull()
})

test('the dialog closes', async () => {
  const { user } = openNewProject()
  await user.click(click('Close'))
  expect(useUi.getState().new_project_open).toBe(false)
})

test('the first project may be a sample', async () => {
  const { user } = renderPart(<Welcome />, { data: [[queryKeys.session, createSession(true)]] })
  expect(screen.getByRole('radio', { checked: true }).textContent).toBe('Local folder')
  await user.click(click('Try a sample'))
  expect(screen.getByRole('radio', { name: 'Sample' }).getAttribute('aria-checked')).toBe('true')
  expect(screen.queryByRole('button', { name: 'Try a sample' })).toBeNull()
})

test('the first page waits for the session', () => {
  renderPart(<Welcome />)
  expect(screen.queryByRole('button', { name: 'Deploy' })).toBeNull()
})
