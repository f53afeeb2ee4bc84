import { act, fireEvent, renderHook, screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { noChanges } from '../../../renderer/features/environment/change-set.ts'
import { useChangeSet } from '../../../renderer/features/environment/change-store.ts'
import EnvironmentPage from '../../../renderer/features/environment/page.tsx'
import { localConnection } from '../../../renderer/stores/connection.ts'
import { deployment } from '../../../server/contract/deployments.ts'
import { type ProjectEnvVar, projectEnvVar } from '../../../server/contract/env-vars.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createVariable = (key: string, own: Partial<ProjectEnvVar> = {}) =>
  createExample(projectEnvVar, { id: `env_${key}`, key, value: key.toLowerCase(), environment: null, ...own })
const serving = createExample(deployment, {
  id: 'dpl_1',
  target: 'production',
  status: 'ready',
  is_current: true,
  created_at: '2026-02-01T12:00:00.000Z',
})
const renderPage = (variables: ProjectEnvVar[], { answers = {}, current = null }: { answers?: object; current?: typeof serving | null } = {}) =>
  renderPart(<EnvironmentPage slug="shop" />, {
    data: [
      [queryKeys.project('shop'), createExample(project, { slug: 'shop', name: 'Shop' })],
      [queryKeys.envVars('shop'), variables],
      [queryKeys.serving('shop'), current],
      [queryKeys.latest('shop'), current],
    ],
    answers,
  })
const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
const keys = () => screen.queryAllByRole('checkbox').map((box) => box.getAttribute('aria-label')?.replace('Select ', ''))
const choose = async (user: { click(element: Element): Promise<void> }, key: string, action: string) => {
  await user.click(button(`Actions for ${key}`))
  await user.click(screen.getByRole('menuitem', { name: action }))
}

afterEach(() => {
  const { stage, rememberDeletions } = renderHook(() => useChangeSet('shop')).result.current
  act(() => {
    stage(() => noChanges)
    rememberDeletions(null, [])
  })
})

test('the page loads, and a failure can be tried again', async () => {
  const answers: { listProjectEnvVars: Response } = { listProjectEnvVars: problemResponse('project_not_found', 'It is gone.') }
  const { user, text } = renderPart(<EnvironmentPage slug="shop" />, {
    data: [[queryKeys.project('shop'), createExample(project, { slug: 'shop', name: 'Shop' })]],
    answers,
  })
  expect([text(), document.title]).toEqual(['Loading', 'Environment · Shop · Homeport'])
  await waitFor(() => expect(text()).toMatch(/^It is gone\. project_not_found .*Try again$/))
  answers.listProjectEnvVars = Response.json({ env_vars: [] })
  await user.click(button('Try again'))
  await waitFor(() => expect(text()).toContain('No variables yet'))
})

test('a list that cannot be refreshed stays, with the reason', async () => {
  const { text } = renderPage([createVariable('A')], { answers: { listProjectEnvVars: problemResponse('project_not_found', 'It is gone.') } })
  await act(() => localConnection.cache.refetchQueries({ queryKey: queryKeys.envVars('shop') }))
  await waitFor(() => expect(text()).toContain('It is gone. project_not_found'))
  expect(keys()).toEqual(['A'])
})

test('a project without variables explains how to add some', () => {
  expect(renderPage([]).text()).toBe(
    'No variables yet Configuration that the app reads from its environment. Add a variable, or paste or drop a .env file anywhere on this page. Import .env… Add variable',
  )
})

const shared = 'Production and previewsAvailable in every deployment.'
const override = 'Override variables of the same name above.'
test.each<[string, ProjectEnvVar[], string[], string]>([
  ['one for both', [createVariable('A')], [shared], 'Search 1 variable'],
  [
    'some for production only',
    [createVariable('A', { environment: 'production' }), createVariable('B', { environment: 'production' })],
    ['Production'],
    'Search 2 variables',
  ],
  [
    'some for each',
    [createVariable('A'), createVariable('B', { environment: 'production' }), createVariable('C', { environment: 'preview' })],
    [shared, `Production${override}`, `Previews${override}`],
    'Search 3 variables',
  ],
])('variables: %s', (_, variables, headings, placeholder) => {
  renderPage(variables)
  expect([...document.querySelectorAll('header')].map(({ textContent }) => textContent)).toEqual(headings)
  expect(screen.getByLabelText<HTMLInputElement>('Search variables').placeholder).toBe(placeholder)
})

test('variables are searched by their names', async () => {
  const { user, text } = renderPage([createVariable('API_URL'), createVariable('PORT')])
  await user.type(screen.getByLabelText('Search variables'), ' url')
  expect(keys()).toEqual(['API_URL'])
  expect(text()).not.toContain('No variable name')
  await user.type(screen.getByLabelText('Search variables'), 'x')
  expect(keys()).toEqual([])
  expect(text()).toContain('No variable name contains “ urlx”.')
})

test('all values are shown and hidden', async () => {
  const { user, text } = renderPage([createVariable('A'), createVariable('API_TOKEN')])
  expect(button('Show values').getAttribute('aria-pressed')).toBe('false')
  await user.click(button('Show values'))
  expect(text()).toContain('[Value of A] a')
  expect(text()).toContain('[Value of API_TOKEN, hidden]')
  expect(button('Hide values').getAttribute('aria-pressed')).toBe('true')
  await user.click(button('Hide values'))
  expect(text()).toContain('[Value of A, hidden]')
})

test('selected variables that the search shows are deleted together', async () => {
  const { user, sent } = renderPage([createVariable('A1'), createVariable('A2'), createVariable('A3'), createVariable('B')])
  for (const key of ['A1', 'A2', 'A3', 'B']) await user.click(screen.getByLabelText(`Select ${key}`))
  expect(button('Delete 4 selected')).toBeTruthy()
  await user.click(screen.getByLabelText('Select A3'))
  await user.type(screen.getByLabelText('Search variables'), 'a')
  expect(screen.queryByRole('button', { name: 'Download' })).toBeNull()
  await user.click(button('Delete 2 selected'))
  expect(screen.getByLabelText<HTMLInputElement>('Select A1').checked).toBe(false)
  expect(button('Download')).toBeTruthy()
  await user.click(button('Save'))
  expect(sent).toEqual([
    { operation: 'changeProjectEnvVars', params: { slug: 'shop' }, body: { create: [], update: [], delete: ['env_A1', 'env_A2'], redeploy: false } },
  ])
})

test('a change of one variable is taken back, and the others are discarded together', async () => {
  const { user, text } = renderPage([createVariable('A'), createVariable('B')])
  expect(text()).not.toContain('[Unsaved changes]')
  await choose(user, 'A', 'Delete')
  await choose(user, 'B', 'Delete')
  expect(text()).toContain('[Unsaved changes] 2 changes')
  await choose(user, 'A', 'Undo change')
  expect(text()).toContain('[Unsaved changes] 1 change Discard Save')
  await user.click(button('Discard'))
  expect(text()).not.toContain('[Unsaved changes]')
})

test('a value is edited and saved', async () => {
  const { user, sent } = renderPage([createVariable('A')])
  await choose(user, 'A', 'Edit value…')
  fireEvent.change(screen.getByLabelText('Value'), { target: { value: 'new' } })
  await user.click(button('Change'))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(button('Save'))
  expect(sent).toMatchObject([{ body: { create: [], update: [{ id: 'env_A', value: 'new' }], delete: [], redeploy: false } }])
})

test('all variables are edited as text', async () => {
  const { user, sent } = renderPage([createVariable('A'), createVariable('B'), createVariable('C')])
  await user.click(button('Edit as text'))
  fireEvent.change(screen.getByLabelText('Variables'), { target: { value: 'A=a\nB=new\nD=d' } })
  await user.click(button('Apply changes'))
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(button('Save'))
  expect(sent).toMatchObject([{ body: { create: [{ key: 'D', value: 'd' }], update: [{ id: 'env_B', value: 'new' }], delete: ['env_C'] } }])
})
