import { screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { Overview } from '../../../renderer/features/project/overview.tsx'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations } from '../../../server/contract/instance.ts'
import { preview } from '../../../server/contract/previews.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, user: { ...session.user, is_instance_owner } }
}
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { id: 'dpl_2', number: 2, status: 'ready', ...own })
const current = createDeployment({ id: 'dpl_1', number: 1, is_current: true, commit_message: 'First version' })

interface Loaded {
  project?: Partial<Project>
  latest?: Deployment | null
  serving?: Deployment | null
  deployments?: Deployment[]
  /** Null: not loaded yet. */
  devServers?: [] | null
}
const showOverview = ({ project: own = {}, latest = current, serving = current, deployments = [current], devServers = [] }: Loaded, answers = {}) =>
  renderPart(<Overview slug="my-shop" />, {
    data: [
      [queryKeys.session, createSession(true)],
      [queryKeys.project('my-shop'), createExample(project, { repo_url: 'https://git.example.com/shop.git', ...own })],
      [queryKeys.latest('my-shop'), latest],
      [queryKeys.serving('my-shop'), serving],
      [queryKeys.deployments('my-shop', {}), { pages: [{ deployments, next_cursor: null }], pageParams: [null] }],
      [queryKeys.previews('my-shop'), [createExample(preview)]],
      [queryKeys.devServers('my-shop'), devServers ?? undefined],
      [queryKeys.unsavedFiles('my-shop'), null],
    ],
    answers,
  })
const readSections = () =>
  screen.queryAllByRole('region').map((section) => section.getAttribute('aria-label') ?? within(section).getAllByRole('heading')[0]?.textContent)

test.each<[string, Loaded, string]>([
  ['serves its latest version', {}, 'Live, Last 24 hours, Previews, Deployments'],
  ['builds a new version', { latest: createDeployment({ status: 'building' }) }, 'Latest deployment, Live, Last 24 hours, Previews, Deployments'],
  [
    'failed to build a new version',
    { latest: createDeployment({ status: 'failed' }) },
    'Latest deployment, Live, Last 24 hours, Previews, Deployments',
  ],
  ['canceled a new version', { latest: createDeployment({ status: 'canceled' }) }, 'Live, Last 24 hours, Previews, Deployments'],
  ['was rolled back', { latest: createDeployment() }, 'Live, Last 24 hours, Previews, Deployments'],
  ['has no repository', { project: { is_connected: false } }, 'Live, Last 24 hours, Deployments'],
  ['failed with its first version', { latest: createDeployment({ status: 'failed' }), serving: null }, 'Latest deployment, Previews, Deployments'],
  ['was stopped', { project: { status: 'inactive' }, serving: null }, 'Stopped, Previews, Deployments'],
  ['crashed', { project: { status: 'crashed' } }, 'Crashed, Crashed, Last 24 hours, Previews, Deployments'],
  [
    'crashed, and is built again',
    { project: { status: 'crashed' }, latest: createDeployment({ status: 'building' }) },
    'Latest deployment, Crashed, Last 24 hours, Previews, Deployments',
  ],
])('the overview of a project that %s has its parts', (_, loaded, expected) => {
  showOverview(loaded)
  expect(readSections().join(', ')).toBe(expected)
})

test.each<[string, Project['status'], string, number]>([
  ['Stopped', 'inactive', 'StoppedThe app is not running; visitors see a notice. Deploy to start it again.', 0],
  [
    'Crashed',
    'crashed',
    'The app keeps exitingIt was restarted several times and kept exiting. Check its log for the cause; a new deployment starts it again.View log',
    1,
  ],
])('a project that is %s says how to start it', (label, status, expected, links) => {
  showOverview({ project: { status }, serving: null })
  const notice = screen.getByRole('region', { name: label })
  expect(notice.textContent).toBe(expected)
  expect(within(notice).queryAllByRole('link', { name: 'View log' }).length).toBe(links)
})

test.each<[string, Partial<Project>, Deployment | null, string]>([
  [
    'in a folder of a repository',
    { root_directory: 'apps/web' },
    current,
    'StatusLiveRepositoryhttps://git.example.com/shop.gitBranchmainRoot directoryapps/webMemoryup to 512 MBWhen idleSleeps after a while without a request and wakes with the next one.Always warmLast requestJan 31, 2026CreatedJan 31, 2026',
  ],
  [
    'that was uploaded',
    { repo_url: null, is_connected: false, last_request_at: null },
    current,
    'StatusLiveRepositoryNone (deployed from a folder or archive)Memoryup to 512 MBWhen idleSleeps after a while without a request and wakes with the next one.Always warmLast requestNone yetCreatedJan 31, 2026',
  ],
  [
    'that builds beside its version',
    { status: 'building' },
    current,
    'StatusLiveRepositoryhttps://git.example.com/shop.gitBranchmainMemoryup to 512 MBWhen idleSleeps after a while without a request and wakes with the next one.Always warmLast requestJan 31, 2026CreatedJan 31, 2026',
  ],
  [
    'that builds its first version',
    { status: 'building' },
    null,
    'StatusBuildingRepositoryhttps://git.example.com/shop.gitBranchmainMemoryup to 512 MBWhen idleSleeps after a while without a request and wakes with the next one.Always warmLast requestJan 31, 2026CreatedJan 31, 2026',
  ],
])('the details of a project %s', (_, own, serving, expected) => {
  showOverview({ project: own, serving })
  const details = screen.getByRole('complementary', { name: 'Details' }).textContent
  expect(details.replace(/, \d\d:\d\d:\d\d/g, '')).toBe(expected)
})

test.each<[string, boolean, string]>([
  ['with a repository', true, 'Not deployed yet Select Deploy: Homeport fetches the branch, builds it and gives it a URL.'],
  ['without a repository', false, 'Not deployed yet Select Deploy and choose the app’s folder, or drop a .zip or .tar.gz here.'],
])('a project %s that was never deployed', (_, is_connected, expected) => {
  expect(showOverview({ project: { is_connected }, latest: null, serving: null, deployments: [] }).text()).toBe(expected)
})

test('a project that was never deployed waits for its development servers, which are above the rest', () => {
  expect(showOverview({ latest: null, serving: null, deployments: [], devServers: null }).text()).not.toContain('Not deployed yet')
})

test('only the five newest deployments are listed, and an earlier one can be rolled back to', async () => {
  const deployments = [6, 5, 4, 3, 2, 1].map((number) =>
    createDeployment({ id: `dpl_${number}`, number, can_rollback: number === 2, commit_message: `Change ${number}` }),
  )
  const { user, text } = showOverview({ deployments })
  const list = within(screen.getByRole('region', { name: 'Deployments' }))
  expect(list.getAllByRole('listitem').length).toBe(5)
  await user.click(list.getByRole('button', { name: 'Roll back to Change 2' }))
  expect(text()).toContain('Roll back to “Change 2”?')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(text()).not.toContain('Roll back to “Change 2”?')
})

test('the overview waits for all of its parts', () => {
  const { text } = renderPart(<Overview slug="my-shop" />, { data: [[queryKeys.project('my-shop'), createExample(project)]] })
  expect(text()).toBe('Loading Loading')
})

test('the overview shows why its deployments cannot be loaded', async () => {
  renderPart(<Overview slug="my-shop" />, { answers: { listDeployments: problemResponse('project_not_found', 'There is no such project.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('There is no such project.')
})
