import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DeploymentActions } from '../../../renderer/features/deployments/deployment-actions.tsx'
import { RollbackConfirmDialog } from '../../../renderer/features/deployments/rollback-confirm-dialog.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations, user } from '../../../server/contract/instance.ts'
import type { RollbackPlan } from '../../../server/contract/rollbacks.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createDeployment = (own: Partial<Deployment> = {}) =>
  createExample(deployment, {
    id: 'dpl_1',
    number: 3,
    status: 'ready',
    target: 'production',
    trigger: 'push',
    source: 'git',
    source_bytes: null,
    files_changed: null,
    is_current: false,
    can_rollback: false,
    ...own,
  })
const started = { deployment_id: 'dpl_9', status: 'queued', deployment: createDeployment({ id: 'dpl_9', status: 'queued' }) } as const
const owner = createExample(instanceOperations.getSession.success.json, { user: createExample(user, { is_instance_owner: true }) })
const renderActions = (own: Partial<Deployment>, answers: PartOptions['answers'] = {}, session: typeof owner | null = null) =>
  renderPart(<DeploymentActions slug="shop" deployment={createDeployment(own)} />, { data: [[queryKeys.session, session]], answers })
const renderRollback = (own: Partial<Deployment>, data: PartOptions['data'] = [], answers: PartOptions['answers'] = {}) => {
  const onClose = vi.fn()
  return { ...renderPart(<RollbackConfirmDialog slug="shop" deployment={createDeployment(own)} onClose={onClose} />, { data, answers }), onClose }
}
const planOf = (own: Partial<RollbackPlan>): [readonly unknown[], unknown] => [
  queryKeys.rollbackPlan('shop', 'dpl_1'),
  { is_instant: true, rebuild_reason: null, changed_variables: [], ...own },
]
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)
const becomeRemote = () => useConnection.setState({ current: { ...localConnection, id: 'rem_1' } })
const opensNew = () => waitFor(() => expect(location.pathname).toMatch(/\/projects\/shop\/deployments\/dpl_9$/))

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/deployments/dpl_1'))

test.each<[string, Partial<Deployment>, string]>([
  ['queued', { status: 'queued', can_rollback: true }, 'Cancel deployment'],
  ['being built', { status: 'building' }, 'Cancel deployment'],
  ['ready', {}, 'Redeploy [Build options]'],
  ['failed', { status: 'failed' }, 'Redeploy [Build options]'],
  ['canceled', { status: 'canceled' }, 'Redeploy [Build options]'],
  ['ready, for a rollback', { can_rollback: true }, 'Redeploy Roll back… [Build options]'],
  ['current', { can_rollback: true, is_current: true, url: 'http://shop.test' }, 'Redeploy Open [Build options]'],
  ['current without an address', { is_current: true, url: null }, 'Redeploy [Build options]'],
])('the actions of a deployment that is %s', (_, own, expected) => expect(renderActions(own).text()).toBe(expected))

test.each<[string, Partial<Deployment>, string]>([
  ['a production version', {}, 'Redeploy Promote… [Build options]'],
  ['a preview', { target: 'preview' }, 'Redeploy [Build options]'],
  ['a failed version', { status: 'failed' }, 'Redeploy [Build options]'],
])('the owner may promote %s', (_, own, expected) => expect(renderActions(own, {}, owner).text()).toBe(expected))

test('a version of a hosted account is pulled', async () => {
  becomeRemote()
  const { user, text } = renderActions({})
  expect(text()).toBe('Redeploy Pull…')
  await user.click(button('Pull…'))
  expect(location.search).toBe('?do=pull&deployment=dpl_1')
})

test('a version is promoted', async () => {
  const { user } = renderActions({}, {}, owner)
  await user.click(button('Promote…'))
  expect(location.search).toBe('?do=promote&deployment=dpl_1')
})

test('a running deployment is canceled', async () => {
  const { user, sent } = renderActions({ status: 'building' }, { cancelDeployment: { ok: true } })
  await user.click(button('Cancel deployment'))
  expect(sent).toEqual([{ operation: 'cancelDeployment', params: { slug: 'shop', id: 'dpl_1' } }])
  await waitFor(() => expect(toasts()).toEqual(['Deployment canceled.']))
})

test('a version is deployed again, and the new deployment opens', async () => {
  const { user, sent } = renderActions({}, { retryDeployment: started })
  await user.click(button('Redeploy'))
  expect(sent).toEqual([{ operation: 'retryDeployment', params: { slug: 'shop', id: 'dpl_1' } }])
  await opensNew()
})

test('a version is built without its cache', async () => {
  const { user, sent } = renderActions({}, { createDeployment: started })
  await user.click(button('Build options'))
  await user.click(screen.getByRole('menuitem', { name: 'Redeploy without cache' }))
  expect(sent).toEqual([{ operation: 'createDeployment', params: { slug: 'shop' }, body: { deployment_id: 'dpl_1', no_cache: true } }])
  await opensNew()
})

test('a rollback is confirmed', async () => {
  const { user, text } = renderActions({ can_rollback: true })
  await user.click(button('Roll back…'))
  expect(text()).toMatch(/^Roll back to “Show prices with tax”\? No downtime/)
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

const variables = Array.from({ length: 9 }, (_, index) => `KEY_${index}`)
const serving = createDeployment({ id: 'dpl_2', commit_sha: 'fedcba9876543210' })
test.each<[string, Partial<Deployment>, PartOptions['data'], string]>([
  ['loads', {}, [], 'Build'],
  ['is instant', {}, [planOf({})], 'Build Instant: the stored build starts again.'],
  ['needs a build', {}, [planOf({ is_instant: false, rebuild_reason: 'build_removed' })], 'Build Rebuilds, because its build was removed.'],
  [
    'changes commits',
    {},
    [planOf({}), [queryKeys.serving('shop'), serving]],
    'Build Instant: the stored build starts again. Commits fedcba9 (current) → 3f8a6c1',
  ],
  ['has no commit', { commit_sha: null }, [planOf({}), [queryKeys.serving('shop'), serving]], 'Build Instant: the stored build starts again.'],
  [
    'replaces a version without a commit',
    {},
    [planOf({}), [queryKeys.serving('shop'), { ...serving, commit_sha: null }]],
    'Build Instant: the stored build starts again.',
  ],
  ['replaces nothing', {}, [planOf({}), [queryKeys.serving('shop'), null]], 'Build Instant: the stored build starts again.'],
  [
    'keeps a variable',
    {},
    [planOf({ changed_variables: ['KEY'] })],
    'Build Instant: the stored build starts again. Variables Keeps today’s values of KEY, which changed since.',
  ],
  [
    'keeps eight',
    {},
    [planOf({ changed_variables: variables.slice(1) })],
    `Build Instant: the stored build starts again. Variables Keeps today’s values of ${variables.slice(1).join(', ')}, which changed since.`,
  ],
  [
    'keeps more',
    {},
    [planOf({ changed_variables: variables })],
    `Build Instant: the stored build starts again. Variables Keeps today’s values of ${variables.slice(0, 8).join(', ')} and 1 more, which changed since.`,
  ],
])('a rollback that %s', (_, own, data, expected) => {
  const { text } = renderRollback(own, data)
  expect(text().replace(/^.*Jan 31, 2026 /, '')).toBe(`${expected} Cancel Roll back [Close]`)
})

test.each([
  [true, 'tone-live'],
  [false, 'tone-busy'],
])('a rollback that is instant (%s) has its color', (is_instant, tone) => {
  renderRollback({}, [planOf({ is_instant })])
  expect(document.querySelectorAll('dd svg')).toHaveLength(1)
  expect(document.querySelector('dd svg')?.getAttribute('class')).toContain(tone)
})

test('an unknown plan says so', async () => {
  renderRollback({}, [], { planRollback: problemResponse('rollback_not_allowed', 'No.') })
  expect(await screen.findByText('Unknown')).toBeTruthy()
})

test('a rollback of a hosted account has no plan', () => {
  becomeRemote()
  expect(renderRollback({}, [[queryKeys.session, null]]).text()).toMatch(/Jan 31, 2026 Cancel Roll back \[Close\]$/)
})

test('a rollback opens its deployment', async () => {
  const { user, sent, onClose } = renderRollback({}, [planOf({})], { rollbackDeployment: started })
  await user.click(button('Roll back'))
  expect(sent).toEqual([{ operation: 'rollbackDeployment', params: { slug: 'shop', id: 'dpl_1' } }])
  await opensNew()
  expect(onClose.mock.calls).toHaveLength(1)
})

test('a rollback that fails says why', async () => {
  const { user, onClose } = renderRollback({}, [planOf({})], { rollbackDeployment: problemResponse('rollback_not_allowed', 'Its build is gone.') })
  await user.click(button('Roll back'))
  expect(await screen.findByText('Its build is gone.')).toBeTruthy()
  expect(onClose.mock.calls).toEqual([])
})
