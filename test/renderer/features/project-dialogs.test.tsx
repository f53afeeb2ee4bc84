import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DeployFolderDialog } from '../../../renderer/features/project/deploy-folder-dialog.tsx'
import { RollbackDialog } from '../../../renderer/features/project/rollback-dialog.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const shop = createExample(project, { id: 'prj_1', is_connected: false })
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { id: 'dpl_2', number: 2, status: 'ready', ...own })
const queued = createDeployment({ id: 'dpl_9', status: 'queued' })

const openFolderDialog = (latest: Deployment | null, answers: PartOptions['answers'] = {}) => {
  const actions = { onOpenChange: vi.fn(), onUpload: vi.fn() }
  return {
    ...actions,
    ...renderPart(<DeployFolderDialog project={shop} {...actions} />, { data: [[queryKeys.latest('my-shop'), latest]], answers }),
    field: screen.getByRole<HTMLInputElement>('textbox', { name: 'Folder' }),
  }
}

test('a folder is deployed, remembered, and its deployment opens', async () => {
  const { user, sent, field, onOpenChange } = openFolderDialog(null, { deployFolder: { project: shop, deployment: queued } })
  expect(field.value).toBe('')
  await user.type(field, ' /srv/shop {Enter}')
  expect(sent).toEqual([{ operation: 'deployFolder', params: {}, body: { path: '/srv/shop', slug: 'my-shop' } }])
  await waitFor(() => expect(location.pathname).toBe('/projects/my-shop/deployments/dpl_9'))
  expect(onOpenChange.mock.calls).toEqual([[false]])
  expect(localStorage.getItem('homeport.folder.prj_1')).toBe('/srv/shop')
})

test('the last folder is offered again', () => {
  localStorage.setItem('homeport.folder.prj_1', '/srv/last')
  expect(openFolderDialog(null).field.value).toBe('/srv/last')
})

test('a folder that cannot be deployed is explained', async () => {
  const { user, field } = openFolderDialog(null, { deployFolder: problemResponse('slug_taken', 'There is no such folder.') })
  await user.type(field, '/srv/none{Enter}')
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such folder.')
  expect(useUi.getState().toasts).toEqual([])
  expect(location.pathname).toBe('/app/')
})

test('the last source is deployed again', async () => {
  const answer = { deployment_id: 'dpl_9', status: 'queued', deployment: queued } as const
  const { user, sent, onOpenChange } = openFolderDialog(createDeployment(), { retryDeployment: answer })
  await user.click(screen.getByRole('button', { name: 'Redeploy last source' }))
  expect(sent).toEqual([{ operation: 'retryDeployment', params: { slug: 'my-shop', id: 'dpl_2' } }])
  await waitFor(() => expect(location.pathname).toBe('/projects/my-shop/deployments/dpl_9'))
  expect(onOpenChange.mock.calls).toEqual([[false]])
})

test('a project without a source offers an archive instead', async () => {
  const { user, onUpload } = openFolderDialog(null)
  expect(screen.queryByRole('button', { name: 'Redeploy last source' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Choose…' })).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Upload archive…' }))
  expect(onUpload).toHaveBeenCalledOnce()
})

const filter = { status: 'ready', target: 'production' } as const
const openRollback = (deployments: Deployment[] | undefined, next_cursor: string | null = null, answers: PartOptions['answers'] = {}) => {
  const onOpenChange = vi.fn()
  const value = deployments && { pages: [{ deployments, next_cursor }], pageParams: [null] }
  return {
    onOpenChange,
    ...renderPart(<RollbackDialog slug="my-shop" onOpenChange={onOpenChange} />, {
      data: [[queryKeys.deployments('my-shop', filter), value]],
      answers,
    }),
  }
}
const candidate = createDeployment({ id: 'dpl_1', number: 1, can_rollback: true, commit_message: 'First version' })

test.each<[string, Deployment[] | undefined, string]>([
  ['while they load', undefined, 'Roll back No downtime: the current version stays live until the earlier one is healthy. Loading [Close]'],
  [
    'if there are none',
    [createDeployment({ can_rollback: true, is_current: true }), createDeployment({ can_rollback: false })],
    'Roll back No downtime: the current version stays live until the earlier one is healthy. There is no earlier deployment to roll back to. [Close]',
  ],
  [
    'if there is one',
    [createDeployment({ can_rollback: true, is_current: true }), candidate],
    'Roll back No downtime: the current version stays live until the earlier one is healthy. First version#13f8a6c1mainAda <ada@example.com>0 Bno files changedJan 31, 2026 Roll back… [Close]',
  ],
])('the versions to roll back to, %s', (_, deployments, expected) => expect(openRollback(deployments).text()).toBe(expected))

test('a version to roll back to is confirmed', async () => {
  const { user, text, onOpenChange } = openRollback([candidate])
  await user.click(screen.getByRole('button', { name: 'Roll back…' }))
  expect(text()).toContain('Roll back to “First version”?')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(onOpenChange.mock.calls).toEqual([[false]])
})

test('older versions are loaded', async () => {
  const { user } = openRollback([createDeployment()], 'page-2', { listDeployments: { deployments: [candidate], next_cursor: null } })
  await user.click(screen.getByRole('button', { name: 'Show older' }))
  expect(await screen.findByText('First version')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Show older' })).toBeNull()
})

test('versions that cannot be loaded are explained', async () => {
  openRollback(undefined, null, { listDeployments: problemResponse('project_not_found', 'There is no such project.') })
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
})
