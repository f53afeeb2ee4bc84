import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import type { PlanChoice, PlanSource } from '../../../renderer/api/source-plans.ts'
import { SourcePlanView } from '../../../renderer/features/plan/source-plan-view.tsx'
import { type PlannedSource, plannedSource } from '../../../server/contract/source-plans.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const example = createExample(plannedSource)
const [service, build, problem] = [example.services[0]!, example.builds[0]!, example.problems[0]!]
const fact = { name: 'framework', value: 'vite', origin: 'package.json' } as const
const web = {
  ...service,
  name: 'web',
  is_main: true,
  is_public: true,
  build: 0,
  depends_on: [],
  volumes: [],
  facts: [{ name: 'port', value: '8080', origin: 'default' } as const],
}
const webBuild = { ...build, services: ['web', 'worker'], framework: 'vite', facts: [fact], notes: [], dockerfile: null }
const createPlan = (own: Partial<PlannedSource> = {}) =>
  createExample(plannedSource, {
    file: null,
    root_directory: '.',
    services: [web],
    builds: [webBuild],
    managed: [],
    facts: [],
    missing_variables: [],
    notes: [],
    problems: [],
    apps: [],
    homeport_yaml: null,
    commit: null,
    ...own,
  })
const folder: PlanSource = { kind: 'folder', path: '/srv/shop' }
const repository: PlanSource = { kind: 'repository', repo_url: 'https://git.example.com/shop.git', repo_branch: undefined }
const whole: PlanChoice = { root_directory: null, apps: [] }

const showPlan = (plan: PlannedSource | null | undefined, source: PlanSource = folder, choice = whole, answers: PartOptions['answers'] = {}) => {
  const onChoose = vi.fn()
  const part = renderPart(<SourcePlanView source={source} choice={choice} onChoose={onChoose} />, {
    data: [[queryKeys.sourcePlan(source, choice), plan]],
    answers,
  })
  return { onChoose, ...part }
}

const dockerfile = { path: 'Dockerfile', text: 'FROM node', is_generated: true }
test.each<[string, PlannedSource['builds'], string[]]>([
  ['one build', [{ ...webBuild, dockerfile }], ['Generated Dockerfile']],
  [
    'one of two builds',
    [
      { ...webBuild, dockerfile },
      { ...webBuild, services: ['api'] },
    ],
    ['Generated Dockerfile of web, worker'],
  ],
  ['no build, if it is in the source', [{ ...webBuild, dockerfile: { ...dockerfile, is_generated: false } }], []],
])('a Dockerfile is generated for %s', (_, builds, expected) => {
  showPlan(createPlan({ builds }))
  expect(screen.queryAllByText(/^Generated Dockerfile/).map(({ textContent }) => textContent)).toEqual(expected)
})

test.each<[string, PlanSource, Partial<PlannedSource>, string[]]>([
  ['a folder', folder, {}, ['Download homeport.yaml', 'Save into the folder…']],
  ['a repository', repository, {}, ['Download homeport.yaml']],
  ['a source with another file', folder, { file: 'compose.yaml' }, ['Download homeport.yaml', 'Save into the folder…']],
  ['a source that has the file', folder, { file: 'homeport.yaml' }, []],
  ['a source that no file describes', folder, { homeport_yaml: null }, []],
])('the plan of %s is saved as a file', (_, source, own, expected) => {
  showPlan(createPlan({ homeport_yaml: 'services: {}', ...own }), source)
  expect(screen.queryAllByRole('button').map(({ textContent }) => textContent)).toEqual(expected)
})

test.each<[string, PlanChoice, object]>([
  ['a whole folder', whole, { path: '/srv/shop', apps: [] }],
  ['one app', { root_directory: 'apps/web', apps: [] }, { path: '/srv/shop', apps: [], root_directory: 'apps/web' }],
])('the plan of %s is written into the folder after a question', async (_, choice, body) => {
  const { user, sent, text } = showPlan(createPlan({ homeport_yaml: 'services: {}' }), folder, choice, { saveFolderPlan: { file: 'homeport.yaml' } })
  await user.click(screen.getByRole('button', { name: 'Save into the folder…' }))
  expect(text()).toContain('Write homeport.yaml into /srv/shop? An existing file is not replaced.')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await user.click(screen.getByRole('button', { name: 'Save into the folder…' }))
  await user.click(screen.getByRole('button', { name: 'Write file' }))
  expect(sent).toEqual([{ operation: 'saveFolderPlan', params: {}, body }])
  expect(await screen.findByRole('button', { name: 'Save into the folder…' })).toBeTruthy()
})

const apps = ['apps/web', 'apps/api'].map((directory) => ({ directory, name: directory.slice(5), framework: 'vite' }))
test.each<[string, PlanSource, string[], PlannedSource['problems'], string]>([
  ['without a choice', folder, [], [], 'Other apps in this repository: Use one app, or select several to plan them as services of one project.'],
  [
    'without an app in its root',
    folder,
    [],
    [problem],
    'Apps in this repository: Use one app, or select several to plan them as services of one project.',
  ],
  [
    'in a folder',
    folder,
    ['apps/web'],
    [],
    'Other apps in this repository: Save the plan as homeport.yaml in the root of the folder: a deployment then runs these apps together.',
  ],
  [
    'in a repository',
    repository,
    ['apps/web'],
    [],
    'Other apps in this repository: These apps are deployed together as services of one project. A homeport.yaml in the repository is optional.',
  ],
])('the apps of a source %s', (_, source, chosen, problems, expected) => {
  showPlan(createPlan({ services: [], apps, problems }), source, { root_directory: null, apps: chosen })
  const group = screen.getByRole('group')
  expect([group.firstChild, group.lastChild].map((one) => one?.textContent).join(': ')).toBe(expected)
  expect(screen.queryAllByRole('checkbox', { checked: true }).length).toBe(chosen.length)
})

test('apps are chosen', async () => {
  const { user, onChoose } = showPlan(createPlan({ services: [], apps }), folder, { root_directory: null, apps: ['apps/web'] })
  await user.click(screen.getByRole('checkbox', { name: /api/ }))
  await user.click(screen.getByRole('checkbox', { name: /web/ }))
  await user.click(screen.getByRole('button', { name: 'Use this app: apps/api' }))
  expect(onChoose.mock.calls).toEqual([
    [{ root_directory: null, apps: ['apps/web', 'apps/api'] }],
    [{ root_directory: null, apps: [] }],
    [{ root_directory: 'apps/api', apps: [] }],
  ])
})
