import { screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import type { PlanChoice, PlanSource } from '../../../renderer/api/source-plans.ts'
import { SourcePlanView } from '../../../renderer/features/plan/source-plan-view.tsx'
import { type PlannedSource, plannedSource } from '../../../server/contract/source-plans.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const example = createExample(plannedSource)
const [service, build, managed, problem] = [example.services[0]!, example.builds[0]!, example.managed[0]!, example.problems[0]!]
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
const worker = {
  ...web,
  name: 'worker',
  kind: 'worker' as const,
  is_main: false,
  is_public: false,
  facts: [{ name: 'build_command', value: null, origin: 'project setting' } as const],
}
const webBuild = { ...build, services: ['web', 'worker'], framework: 'vite', facts: [fact], notes: [], dockerfile: null }
const redis = {
  ...managed,
  name: 'redis' as const,
  label: 'Redis',
  image: 'redis:7',
  variables: ['REDIS_URL', 'REDIS_HOST'],
  is_listed: true,
  is_added: true,
  origin: 'homeport.yaml line 3',
}
const mail = { ...redis, name: 'mail' as const, label: 'Mail', image: null, variables: [], is_listed: false, origin: 'project setting' }

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

test.each<[string, PlannedSource | null | undefined, PlanSource, string]>([
  ['a folder that is read', undefined, folder, 'Reading the folder'],
  ['a repository that is fetched', undefined, repository, 'Fetching the repository and reading its files'],
  ['a source on an instance without plans', null, folder, ''],
  [
    'one service',
    createPlan(),
    folder,
    'Detected from the files. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite Facts of the plan and where they come from Fact Value From Framework Vite package.json Port 8080 default',
  ],
  [
    'a commit with a file',
    createPlan({ file: 'compose.yaml', commit: { branch: 'main', sha: '3f8a6c1d2b4e', message: '' } }),
    repository,
    'Read from compose.yaml, commit 3f8a6c1 of main. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite Facts of the plan and where they come from Fact Value From Framework Vite package.json Port 8080 default',
  ],
  [
    'a folder inside a source',
    createPlan({ root_directory: 'apps/web' }),
    folder,
    'Detected from the files in apps/web. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite Facts of the plan and where they come from Fact Value From Framework Vite package.json Port 8080 default',
  ],
  [
    'services with managed ones',
    createPlan({
      services: [web, worker],
      managed: [redis, mail],
      facts: [{ name: 'release_command', value: 'npm run migrate', origin: 'Procfile' }],
    }),
    folder,
    'Detected from the files. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite workerWorker, Vite RedisManaged service MailManaged service Facts of the plan and where they come from Service Fact Value From web Framework Vite package.json Port 8080 default worker Build command None project setting All Release command npm run migrate Procfile redis Managed service Redis, redis:7 homeport.yaml line 3 Variables REDIS_URL, REDIS_HOST default mail Managed service Mail project setting Variables default Kept, although the source does not list it: Mail.',
  ],
  [
    'a service with a managed one',
    createPlan({ managed: [{ ...redis, is_added: false }] }),
    folder,
    'Detected from the files. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite RedisManaged, new Facts of the plan and where they come from Service Fact Value From web Framework Vite package.json Port 8080 default redis Managed service Redis, redis:7 homeport.yaml line 3 Variables REDIS_URL, REDIS_HOST default A production deployment adds Redis. Removing the line later keeps it.',
  ],
  [
    'two managed services that are added and two that are kept',
    createPlan({ managed: [redis, mail].map((one) => ({ ...one, is_listed: false, is_added: false })) }),
    folder,
    'Detected from the files. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite RedisManaged, new MailManaged, new Facts of the plan and where they come from Service Fact Value From web Framework Vite package.json Port 8080 default redis Managed service Redis, redis:7 homeport.yaml line 3 Variables REDIS_URL, REDIS_HOST default mail Managed service Mail project setting Variables default A production deployment adds Redis, Mail. Removing the line later keeps them. Kept, although the source does not list them: Redis, Mail.',
  ],
  [
    'one note',
    createPlan({ notes: ['Node 24 is used.'], builds: [{ ...webBuild, notes: ['Node 24 is used.'] }] }),
    folder,
    'Detected from the files. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite Facts of the plan and where they come from Fact Value From Framework Vite package.json Port 8080 default 1 note Node 24 is used.',
  ],
  [
    'two notes',
    createPlan({ notes: ['Node 24 is used.'], builds: [{ ...webBuild, notes: ['No lockfile.'] }] }),
    folder,
    'Detected from the files. [Services and their connections] VisitorsHTTP and HTTPS webWeb, Vite Facts of the plan and where they come from Fact Value From Framework Vite package.json Port 8080 default 2 notes Node 24 is used. No lockfile.',
  ],
  [
    'problems',
    createPlan({
      services: [],
      builds: [],
      problems: [
        { ...problem, file: null, line: null, message: 'There is no app.', hint: 'Add one.' },
        { ...problem, file: 'compose.yaml', line: null, message: 'No service.', hint: 'Add one.' },
        { ...problem, file: 'compose.yaml', line: 4, message: 'A bad port.', hint: 'Use a number.' },
      ],
    }),
    folder,
    'There is no app. Add one. compose.yaml No service. Add one. compose.yaml:4 A bad port. Use a number.',
  ],
  [
    'missing variables',
    createPlan({ services: [], missing_variables: ['API_KEY', 'API_URL'] }),
    folder,
    'Required variables are missing: API_KEY, API_URL. Add them before you deploy.',
  ],
])('the plan of %s', (_, plan, source, expected) => expect(showPlan(plan, source).text()).toBe(expected))

test('the rows of another service begin a group', () => {
  showPlan(createPlan({ services: [web, worker] }))
  const rows = within(screen.getByRole('table')).getAllByRole('row').slice(1)
  expect(rows.map(({ dataset }) => dataset.startsGroup ?? null)).toEqual([null, null, 'true'])
})

test('a plan that cannot be made is explained', async () => {
  const { user, sent } = showPlan(undefined, repository, whole, { planRepository: problemResponse('source_not_fetched', 'The host is unknown.') })
  expect((await screen.findByRole('alert')).textContent).toContain('The host is unknown.')
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  expect(sent.length).toBe(2)
})

test('the services of a diagram are connected', () => {
  showPlan(createPlan({ services: [{ ...web, depends_on: ['worker'] }, worker] }))
  const edges = document.querySelectorAll('[aria-label="Services and their connections"] svg path')
  expect(
    [...edges]
      .map((edge) => edge.getAttribute('d'))
      .filter((d) => d?.startsWith('M '))
      .join(' | '),
  ).toBe('M 168 25 H 168 C 190 25 190 25 212 25 | M 380 25 H 380 C 402 25 402 25 424 25')
})

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
