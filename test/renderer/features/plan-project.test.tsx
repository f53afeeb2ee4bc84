import { screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { ProjectPlan } from '../../../renderer/features/plan/index.ts'
import { projectSettings } from '../../../server/contract/project-settings.ts'
import { project } from '../../../server/contract/projects.ts'
import { plannedSource } from '../../../server/contract/source-plans.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const shop = createExample(project, { root_directory: '.' })
const apps = ['api', 'web'].map((directory) => ({ directory, name: directory, framework: 'vite' }))
const plan = createExample(plannedSource, { services: [], builds: [], managed: [], problems: [], missing_variables: [], apps })
const createSettings = (saved: string[]) => ({ settings: createExample(projectSettings, { apps: saved }), cpus: 4 })

const showPlan = async (saved: string[]) => {
  const part = renderPart(<ProjectPlan project={shop} />, {
    data: [[queryKeys.projectSettings('my-shop'), createSettings(saved)]],
    answers: { planProject: { plan }, updateProject: { project: shop }, updateProjectSettings: createSettings(['web']) },
  })
  await screen.findByRole('group')
  return part
}
const toggle = (name: string) => screen.getByRole('checkbox', { name: new RegExp(`^${name}`) })
const readQuestion = () => screen.queryByRole('status')?.textContent ?? null

test('a project is planned with its folder and its saved apps', async () => {
  const { sent } = await showPlan(['web'])
  expect(sent).toEqual([{ operation: 'planProject', params: { slug: 'my-shop' }, body: { root_directory: '.', apps: ['web'] } }])
  expect(readQuestion()).toBe(null)
})

test('another choice of apps is saved after a question', async () => {
  const { user, sent } = await showPlan([])
  await user.click(toggle('web'))
  expect(readQuestion()).toBe('Deploy web as services of this project?Save in settingsCancel')
  await user.click(screen.getByRole('button', { name: 'Save in settings' }))
  expect(sent.at(-1)).toEqual({ operation: 'updateProjectSettings', params: { slug: 'my-shop' }, body: { apps: ['web'] } })
  await waitFor(() => expect(readQuestion()).toBe(null))
})

test('no app at all is a choice, which can be canceled', async () => {
  const { user } = await showPlan(['web'])
  await user.click(toggle('web'))
  expect(readQuestion()).toBe('Deploy the repository as one app?Save in settingsCancel')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(readQuestion()).toBe(null)
})

test('the same apps in another order are no change', async () => {
  const { user } = await showPlan(['web', 'api'])
  await user.click(toggle('web'))
  expect(readQuestion()).not.toBe(null)
  await user.click(await screen.findByRole('checkbox', { name: /^web/, checked: false }))
  expect(readQuestion()).toBe(null)
})

test('one app becomes the root directory at once', async () => {
  const { user, sent } = await showPlan([])
  await user.click(screen.getByRole('button', { name: 'Use this app: api' }))
  expect(sent.find(({ operation }) => operation.startsWith('update'))).toEqual({
    operation: 'updateProject',
    params: { slug: 'my-shop' },
    body: { root_directory: 'api' },
  })
})
