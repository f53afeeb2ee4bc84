import { act, renderHook, screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { noChanges, type StagedVariable } from '../../../renderer/features/environment/change-set.ts'
import { useChangeSet } from '../../../renderer/features/environment/change-store.ts'
import EnvironmentPage from '../../../renderer/features/environment/page.tsx'
import { RedeployNotice } from '../../../renderer/features/environment/redeploy-notice.tsx'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { projectEnvVar } from '../../../server/contract/env-vars.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const before = '2026-01-31T12:00:00.000Z'
const deployedAt = '2026-02-01T12:00:00.000Z'
const after = '2026-02-02T12:00:00.000Z'
const createVariable = (own: Partial<StagedVariable> = {}): StagedVariable => ({
  ...createExample(projectEnvVar, { id: 'env_1', key: 'A', value: 'one', environment: null, updated_at: before }),
  change: null,
  ...own,
})
const createDeployment = (own: Partial<Deployment> = {}) =>
  createExample(deployment, { id: 'dpl_1', target: 'production', status: 'ready', is_current: true, created_at: deployedAt, ...own })
const shop = createExample(project, { slug: 'shop', is_connected: true })
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })

afterEach(() => {
  const { stage, rememberDeletions } = renderHook(() => useChangeSet('shop')).result.current
  act(() => {
    stage(() => noChanges)
    rememberDeletions(null, [])
  })
})

interface NoticeOptions {
  variables?: StagedVariable[]
  deletions?: { serving_id: string | null; keys: string[] }
  latest?: Deployment | null
  current?: Deployment | null
  startedId?: string | null
  isConnected?: boolean
}
const changed = (key: string, own: Partial<StagedVariable> = {}) => createVariable({ key, updated_at: after, ...own })
const renderNotice = ({
  variables = [],
  deletions,
  latest = createDeployment(),
  current = latest,
  startedId = null,
  isConnected = true,
}: NoticeOptions) => {
  const started: (string | null)[] = []
  const notice = (
    <RedeployNotice
      project={{ ...shop, is_connected: isConnected }}
      variables={variables}
      deletions={deletions}
      startedId={startedId}
      onStarted={(id) => started.push(id)}
    />
  )
  const followed = [createDeployment(), createDeployment({ id: 'dpl_2', status: 'building' })]
  const data = followed.map((one): [readonly string[], unknown] => [queryKeys.deployment('shop', one.id), one])
  return { started, ...renderPart(notice, { data: [...data, [queryKeys.latest('shop'), latest], [queryKeys.serving('shop'), current]] }) }
}
const building = createDeployment({ id: 'dpl_2', status: 'building', created_at: after })
const follows = 'BuildingRedeploying with the new variables… View deployment Dismiss'

test.each<[string, NoticeOptions, string]>([
  ['nothing changed', { variables: [createVariable()] }, ''],
  ['a variable changed', { variables: [createVariable(), changed('B')] }, '1 change not deployed yet: B Redeploy'],
  ['a variable changed at the same moment', { variables: [changed('B', { updated_at: deployedAt })] }, ''],
  ['a variable of previews changed', { variables: [changed('B', { environment: 'preview' })] }, ''],
  ['three variables changed', { variables: ['A', 'B', 'C'].map((key) => changed(key)) }, '3 changes not deployed yet: A, B, C Redeploy'],
  [
    'four variables changed',
    { variables: ['A', 'B', 'C', 'D'].map((key) => changed(key)) },
    '4 changes not deployed yet: A, B, C and 1 more Redeploy',
  ],
  ['a variable was deleted', { deletions: { serving_id: 'dpl_1', keys: ['B'] } }, '1 change not deployed yet: B Redeploy'],
  ['a variable was deleted before the deployment', { deletions: { serving_id: 'dpl_0', keys: ['B'] } }, ''],
  ['nothing is deployed', { variables: [changed('B')], latest: null }, ''],
  ['a deployment applies the change', { variables: [changed('B')], latest: building, current: createDeployment() }, follows],
  ['a deletion is being deployed', { deletions: { serving_id: 'dpl_1', keys: ['B'] }, latest: building, current: createDeployment() }, follows],
  [
    'a preview is being deployed',
    { variables: [changed('B')], latest: { ...building, target: 'preview' }, current: createDeployment() },
    '1 change not deployed yet: B Redeploy',
  ],
  ['a deployment was started but is not loaded', { variables: [changed('B')], startedId: 'dpl_2' }, follows],
  ['the started deployment is done', { startedId: 'dpl_1' }, 'ReadyThe app is running with the new variables. View deployment Dismiss'],
  ['something changed after the started deployment', { startedId: 'dpl_1', variables: [changed('B')] }, '1 change not deployed yet: B Redeploy'],
])('the notice when %s', (_, options, expected) => {
  const { text, started } = renderNotice(options)
  expect(text()).toBe(expected)
  expect(started).toEqual(options.latest === building ? ['dpl_2'] : [])
})

test.each([
  [true, { operation: 'deployProject', params: { slug: 'shop' } }],
  [false, { operation: 'retryDeployment', params: { slug: 'shop', id: 'dpl_1' } }],
])('a project with a repository (%s) is deployed again', async (isConnected, request) => {
  const { user, sent } = renderNotice({ variables: [changed('B')], isConnected })
  await user.click(button('Redeploy'))
  expect(sent).toMatchObject([request])
  await user.click(button('Redeploy'))
  expect(sent).toHaveLength(1)
})

test('a deployment that is followed can be dismissed', async () => {
  const { user, started } = renderNotice({ startedId: 'dpl_1' })
  await user.click(button('Dismiss'))
  expect(started).toEqual([null])
})

test.each([
  ['without', 'Save', '1 change not deployed yet: A Redeploy'],
  ['with', 'Save and redeploy', follows],
])('a deletion that is saved %s a deployment', async (_, name, expected) => {
  const deployment_id = name === 'Save' ? null : 'dpl_2'
  const { user, text } = renderPart(<EnvironmentPage slug="shop" />, {
    data: [
      [queryKeys.project('shop'), shop],
      [queryKeys.envVars('shop'), [createVariable(), createVariable({ id: 'env_2', key: 'B', environment: 'preview' })]],
      [queryKeys.serving('shop'), createDeployment()],
      [queryKeys.latest('shop'), createDeployment()],
      [queryKeys.deployment('shop', 'dpl_2'), building],
    ],
    answers: {
      changeProjectEnvVars: { created: [], deployment_id },
      listDeployments: { deployments: [createDeployment()], next_cursor: null },
      listProjectEnvVars: { env_vars: [] },
    },
  })
  for (const key of ['A', 'B']) await user.click(screen.getByLabelText(`Select ${key}`))
  await user.click(button('Delete 2 selected'))
  await user.click(button(name))
  await waitFor(() => expect(text().slice(0, expected.length)).toBe(expected))
  expect(text()).not.toContain('[Unsaved changes]')
})

test('deletions of the same deployment are counted together', async () => {
  const variables = [createVariable(), createVariable({ id: 'env_2', key: 'B' })]
  const { user, text } = renderPart(<EnvironmentPage slug="shop" />, {
    data: [
      [queryKeys.project('shop'), shop],
      [queryKeys.envVars('shop'), variables],
      [queryKeys.serving('shop'), createDeployment()],
      [queryKeys.latest('shop'), createDeployment()],
    ],
    answers: {
      changeProjectEnvVars: { created: [], deployment_id: null },
      listDeployments: { deployments: [createDeployment()], next_cursor: null },
      listProjectEnvVars: { env_vars: variables.slice(1) },
    },
  })
  const remove = async (key: string) => {
    await user.click(screen.getByLabelText(`Select ${key}`))
    await user.click(button('Delete 1 selected'))
    await user.click(button('Save'))
  }
  await remove('A')
  await waitFor(() => expect(text()).toMatch(/^1 change not deployed yet: A Redeploy/))
  await remove('B')
  await waitFor(() => expect(text()).toMatch(/^2 changes not deployed yet: A, B Redeploy/))
})
