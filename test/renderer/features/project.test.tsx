import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { CurrentDeployment } from '../../../renderer/features/project/current-deployment.tsx'
import { LatestDeployment } from '../../../renderer/features/project/latest-deployment.tsx'
import { SleepSetting } from '../../../renderer/features/project/sleep-setting.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { type Deployment, deployment } from '../../../server/contract/deployments.ts'
import { instanceOperations, settings } from '../../../server/contract/instance.ts'
import { type Project, project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { problemResponse, renderPart } from '../../support/dashboard.tsx'

const createProject = (own: Partial<Project> = {}) => createExample(project, { is_cold: false, always_warm: false, ...own })
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { id: 'dpl_2', number: 2, status: 'ready', ...own })
const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return {
    ...session,
    user: { ...session.user, is_instance_owner },
    account: { ...session.account, plan: 'starter' },
    instance: { ...session.instance, edge_url: 'http://localhost:4780', apps_url: null },
  }
}

const showCurrent = (own: Partial<Deployment> = {}, status: Project['status'] = 'live') =>
  renderPart(<CurrentDeployment slug="my-shop" project={createProject({ status })} deployment={createDeployment(own)} newestFirst={[]} />, {
    data: [[queryKeys.session, createSession(true)]],
  }).text()

test.each<[string, Partial<Deployment>, string]>([
  [
    'a commit',
    {},
    '[Open my-shop] No screenshot yet Live since Jan 31, 2026 Show prices with tax #2 3f8a6c1 mainAda <ada@example.com>Manual deployVitein a Docker Swarm cluster [Time by phase: Waited 40 ms, Built 5.2 s, Started 0.9 s] Waited 40 msBuilt 5.2 sStarted 0.9 s',
  ],
  [
    'a folder with changes',
    {
      source: 'folder',
      commit_message: null,
      commit_sha: null,
      commit_author: null,
      branch: null,
      framework: null,
      is_dirty: true,
      image_bytes: 2_000_000,
      queued_ms: null,
      build_ms: 0,
      deploy_ms: null,
    },
    '[Open my-shop] No screenshot yet Live since Jan 31, 2026 source_name #2 Manual deployin a Docker Swarm cluster2.0 MBwith uncommitted changes',
  ],
  [
    'one without a number',
    { number: undefined, queued_ms: 0 },
    '[Open my-shop] No screenshot yet Live since Jan 31, 2026 Show prices with tax 3f8a6c1 mainAda <ada@example.com>Manual deployVitein a Docker Swarm cluster [Time by phase: Built 5.2 s, Started 0.9 s] Built 5.2 sStarted 0.9 s',
  ],
])('the current deployment of %s', (_, own, expected) => expect(showCurrent(own)).toBe(expected))

test.each<[Project['status'], string, number]>([
  ['live', 'Live', 1],
  ['building', 'Live', 1],
  ['crashed', 'Crashed', 0],
])('a project that is %s shows “%s” and has %i links to its app', (status, label, count) => {
  showCurrent({}, status)
  expect(screen.getByRole('heading').textContent).toBe(label)
  expect(screen.queryAllByRole('link', { name: 'Open my-shop' }).length).toBe(count)
})

const remote = { ...localConnection, id: 'remote_1' }
test.each([
  ['this machine', localConnection, 'Promote…', '/projects/my-shop?do=promote'],
  ['another instance', remote, 'Pull to this machine…', '/projects/my-shop?do=pull'],
])('a version of %s goes to others', (_, current, name, address) => {
  useConnection.setState({ connections: [localConnection, remote], current })
  showCurrent()
  expect(screen.getByRole('link', { name }).getAttribute('href')).toBe(address)
})

const failure = { code: 'build_failed', message: 'The build failed.', hint: 'Read its log.' } as const
test.each<[string, Partial<Deployment>, boolean, string]>([
  [
    'a queued one',
    { status: 'queued', queue_position: 3, started_at: null },
    false,
    '[Latest deployment] Queued: Show prices with tax Position 3 in the queue. View progress',
  ],
  [
    'a queued one beside a current version',
    { status: 'queued', queue_position: 1, started_at: null },
    true,
    '[Latest deployment] Queued: Show prices with tax Position 1 in the queue. No downtime: the current version stays live until this one is healthy. View progress',
  ],
  ['one that has not started', { status: 'queued', started_at: null }, false, '[Latest deployment] Queued: Show prices with tax View progress'],
  [
    'a running one',
    { status: 'building', started_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:20.000Z' },
    true,
    '[Latest deployment] Building: Show prices with tax Running for 20 s. No downtime: the current version stays live until this one is healthy. View progress',
  ],
  [
    'a failed one',
    { status: 'failed', error: failure },
    false,
    '[Latest deployment] Failed: Show prices with tax The build failed. Read its log. View details',
  ],
  [
    'a failed one beside a current version',
    { status: 'failed', error: failure },
    true,
    '[Latest deployment] Failed: Show prices with tax The build failed. Read its log. The current version stays live. View details',
  ],
  ['a failed one without a cause', { status: 'failed' }, true, '[Latest deployment] Failed: Show prices with tax View details'],
])('the latest deployment: %s', (_, own, hasServing, expected) => {
  expect(renderPart(<LatestDeployment slug="my-shop" deployment={createDeployment(own)} hasServing={hasServing} />).text()).toBe(expected)
  expect(screen.getByRole('link').getAttribute('href')).toBe('/projects/my-shop/deployments/dpl_2')
})

const showSleep = (own: Partial<Project>, { isOwner = true, frozen_for_s = 0, answers = {} } = {}) =>
  renderPart(<SleepSetting project={createProject(own)} />, {
    data: [
      [queryKeys.session, createSession(isOwner)],
      [queryKeys.settings, isOwner ? createExample(settings, { sleep_after_s: 900, frozen_for_s }) : undefined],
    ],
    answers,
  })

test.each<[string, Partial<Project>, { isOwner?: boolean; frozen_for_s?: number }, string]>([
  ['that is awake', {}, {}, 'When idle Sleeps after 15 minutes without a request and wakes with the next one. Always warm'],
  ['whose delay is unknown', {}, { isOwner: false }, 'When idle Sleeps after a while without a request and wakes with the next one. Always warm'],
  ['that is always warm', { always_warm: true, is_cold: true }, {}, 'When idle Stays awake, so the first request is never slow. Always warm'],
  ['that sleeps', { is_cold: true }, {}, 'When idle Asleep; last request Jan 31, 2026. The next request wakes it. Always warm'],
  ['that sleeps without a request', { is_cold: true, last_request_at: null }, {}, 'When idle Asleep. The next request wakes it. Always warm'],
  [
    'that is frozen',
    { is_cold: true, last_request_at: null },
    { frozen_for_s: 3600 },
    'When idle Asleep. The next request wakes it. It stays frozen in memory for 1 hour and wakes instantly; after that it is stopped and starts on request. Always warm',
  ],
  ['a static site', { port: null }, {}, 'When idle Never sleeps: a static site without a process'],
  [
    'a static site that is building',
    { port: null, status: 'building' },
    {},
    'When idle Sleeps after 15 minutes without a request and wakes with the next one. Always warm',
  ],
  [
    'without a port that sleeps',
    { port: null, is_cold: true, last_request_at: null },
    {},
    'When idle Asleep. The next request wakes it. Always warm',
  ],
])('an app %s', (_, own, options, expected) => expect(showSleep(own, options).text()).toBe(expected))

test('an app is kept warm, shown at once', async () => {
  const { user, sent, text } = showSleep({})
  await user.click(screen.getByRole('switch'))
  expect(sent).toEqual([{ operation: 'updateProject', params: { slug: 'my-shop' }, body: { always_warm: true } }])
  expect(text()).toContain('Stays awake')
})

test.each([
  ['the owner of the instance', true, 'Starter'],
  ['another user', false, null],
])('a plan that does not include warm apps, for %s', async (_, isOwner, plan) => {
  const { user, text } = showSleep({}, { isOwner, answers: { updateProject: problemResponse('paid_plan_required', 'Choose a paid plan.') } })
  await user.click(screen.getByRole('switch'))
  expect(await screen.findByText('Choose a paid plan.')).toBeTruthy()
  expect(/Simulating the (\w+) plan\. Change it in the instance settings\./.exec(text())?.[1] ?? null).toBe(plan)
})

test('another failure says nothing about plans', async () => {
  const { user, text } = showSleep({}, { answers: { updateProject: problemResponse('project_not_found', 'No such project.') } })
  await user.click(screen.getByRole('switch'))
  expect(await screen.findByText('No such project.')).toBeTruthy()
  expect(text()).not.toContain('Simulating')
})
