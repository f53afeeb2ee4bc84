import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Route } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import DeploymentPage from '../../../renderer/features/deployments/detail-page.tsx'
import { formatDateTime } from '../../../renderer/lib/format.ts'
import {
  type Deployment,
  type DeploymentDetail,
  type StepName,
  type StepStatus,
  deployment,
  deploymentDetail,
} from '../../../server/contract/deployments.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const startedAt = '2026-01-31T12:00:00.000Z'
const finishedAt = '2026-01-31T12:00:05.000Z'
const times = { started_at: startedAt, finished_at: finishedAt }
const createStep = (name: StepName, status: StepStatus) => ({
  name,
  status,
  ...(status === 'done' || status === 'failed' ? times : { started_at: null, finished_at: null }),
})
const createDetail = (own: Partial<DeploymentDetail> = {}) =>
  createExample(deploymentDetail, {
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
    queued_ms: 40,
    runtime: 'docker',
    steps: [createStep('build', 'done')],
    ...times,
    ...own,
  })
const createDeployment = (own: Partial<Deployment> = {}) => createExample(deployment, { ...createDetail(), ...own })
interface PageOptions {
  detail?: DeploymentDetail
  others?: Deployment[]
  answers?: PartOptions['answers']
}
function renderPage({ detail, others = [], answers = {} }: PageOptions = {}) {
  const data: [readonly unknown[], unknown][] = [
    [queryKeys.project('shop'), createExample(project, { slug: 'shop', name: 'Shop' })],
    [queryKeys.deployments('shop', {}), { pages: [{ deployments: others, next_cursor: null }], pageParams: [null] }],
  ]
  if (detail) data.push([queryKeys.deployment('shop', 'dpl_1'), detail])
  const page = (
    <Route path="/app/projects/shop/deployments/:id">
      <DeploymentPage slug="shop" />
    </Route>
  )
  return renderPart(page, { data, answers })
}
const head = () => screen.getByTestId('report-head').textContent ?? ''
const timing = () => screen.getByTestId('report-head').lastElementChild?.textContent ?? ''
const facts = () => screen.getAllByRole('definition').map((one) => `${one.previousElementSibling?.textContent} ${one.textContent}`)

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/deployments/dpl_1'))
afterEach(() => vi.restoreAllMocks())

test('the page loads', () => {
  expect(renderPage().text()).toBe('Loading')
  expect(document.title).toBe('Deployment · Shop · Homeport')
})

test.each<[string, Partial<DeploymentDetail>, string]>([
  ['its number', {}, '#3 Show prices with tax · Shop · Homeport'],
  ['no number', { number: undefined }, 'Show prices with tax · Shop · Homeport'],
])('the title has %s', (_, own, expected) => {
  renderPage({ detail: createDetail(own) })
  expect(document.title).toBe(expected)
})

test('a deployment that cannot be loaded can be requested again', async () => {
  const answers: PartOptions['answers'] = { getDeployment: problemResponse('deployment_not_found', 'It is gone.') }
  const { user, text } = renderPage({ answers })
  expect(await screen.findByText('It is gone.')).toBeTruthy()
  expect(text()).not.toContain('Loading')
  answers.getDeployment = { deployment: createDetail() }
  await user.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await screen.findByTestId('report-head')).toBeTruthy()
})

test.each<[string, Partial<DeploymentDetail>, Deployment[], RegExp]>([
  ['a version', {}, [], /^ReadyGit pushRedeploy/],
  ['the current version', { is_current: true, url: null }, [], /^ReadyCurrentGit pushRedeploy/],
  ['a preview', { target: 'preview', status: 'failed' }, [], /^FailedGit push, previewRedeploy/],
  ['a rollback', { trigger: 'rollback', parent_id: 'dpl_2', created_at: finishedAt }, [], /^ReadyRollbackRedeploy/],
  [
    'a restart',
    { trigger: 'rollback', parent_id: 'dpl_2', created_at: finishedAt },
    [createDeployment({ id: 'dpl_2', created_at: startedAt })],
    /^ReadyRestartRedeploy/,
  ],
])('the head of %s', (_, own, others, expected) => {
  renderPage({ detail: createDetail(own), others })
  expect(head()).toMatch(expected)
})

const running = { status: 'building', finished_at: null } as const
test.each<[string, Partial<DeploymentDetail>, Deployment[], RegExp]>([
  ['in the queue', { status: 'queued', queue_position: 2, started_at: null }, [], /^Position 2 in the queue\. It starts automatically\.$/],
  ['that ended', {}, [createDeployment({ id: 'dpl_2' })], /^Took 5\.0 s$/],
  ['that waited', { queued_ms: 1001 }, [], /^Took 5\.0 s; 1\.0 s in the queue$/],
  ['that waited shortly', { queued_ms: 1000 }, [], /^Took 5\.0 s$/],
  ['of which the wait is unknown', { queued_ms: null }, [], /^Took 5\.0 s$/],
  ['that runs', running, [], /^\d+ h \d+ min so far$/],
  [
    'that runs after another one',
    running,
    [createDeployment(), createDeployment({ id: 'dpl_2', finished_at: '2026-01-31T12:00:07.000Z' })],
    /^\d+ h \d+ min so far; the previous one took 7\.0 s$/,
  ],
  ['that runs after a failed one', running, [createDeployment({ id: 'dpl_2', status: 'failed' })], /so far$/],
  ['that runs after one that has no end', running, [createDeployment({ id: 'dpl_2', finished_at: null })], /so far$/],
])('the duration of a deployment %s', (_, own, others, expected) => {
  renderPage({ detail: createDetail({ steps: [], ...own }), others })
  expect(timing()).toMatch(expected)
})

test('a deployment that has not started has no duration', () => {
  renderPage({ detail: createDetail({ status: 'canceled', started_at: null }) })
  expect(screen.queryByText(/Took|so far|Position/)).toBeNull()
})

test.each<[string, Partial<DeploymentDetail>, string[]]>([
  ['few', { framework: null }, ['Runtime Docker']],
  ['all', { framework: 'nextjs', image_bytes: 2_000_000 }, ['Framework Next.js', 'Runtime Docker', 'Image 2.0 MB']],
])('the facts of a deployment: %s', (_, own, expected) => {
  renderPage({ detail: createDetail(own) })
  expect(facts()).toEqual([...expected, `Requested ${formatDateTime(startedAt)}`, 'ID …dpl_1'])
})

test.each([
  [{ desktop: false, mobile: false }, 0],
  [{ desktop: true, mobile: false }, 1],
  [{ desktop: false, mobile: true }, 1],
])('screenshots %o are shown if there are any', (screenshots, count) => {
  renderPage({ detail: createDetail({ screenshots }) })
  expect(screen.queryAllByRole('figure')).toHaveLength(count)
})

test.each([
  ['the current version', true, 1],
  ['an earlier version', false, 0],
])('the screenshots of %s', (_, is_current, count) => {
  renderPage({ detail: createDetail({ is_current, screenshots: { desktop: true, mobile: true } }) })
  expect(screen.queryAllByRole('link', { name: 'Open shop' })).toHaveLength(count)
})
const createEvent = (event: string, data: object) => `event: ${event}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`
const logEvent = (line: string, stream = 'stdout') => createEvent('log', { seq: 1, ts: startedAt, step: 'build', stream, line })
const logOf = (...events: string[]) =>
  new Response([...events, createEvent('end', { status: 'ready' })].join(''), { headers: { 'content-type': 'text/event-stream' } })
const logFoot = () => within(screen.getByTestId('log-foot')).getByRole('status').textContent
test.each<[string, Partial<DeploymentDetail>, PartOptions['answers'], string, string]>([
  ['opens', {}, {}, 'Opening the log…', 'Complete'],
  ['opens while it runs', running, {}, 'Opening the log…', 'Live'],
  ['waits', { status: 'queued', queue_position: 1 }, {}, 'Waiting in the queue. The log starts with the first step.', 'Live'],
  ['is empty', {}, { streamBuildLog: logOf() }, 'This deployment has no log.', 'Complete'],
  ['is refused', running, { streamBuildLog: problemResponse('forbidden', 'Not for you.') }, 'Opening the log…', 'Not for you.'],
  [
    'lost its connection',
    running,
    { streamBuildLog: problemResponse('internal_error', 'Broken.') },
    'Opening the log…',
    'Connection lost; reconnecting…',
  ],
])('a log that %s', async (_, own, answers, empty, state) => {
  const detail = createDetail(own)
  const { text } = renderPage({ detail, answers: { getDeployment: { deployment: detail }, ...answers } })
  await waitFor(() => expect(logFoot()).toBe(state))
  await waitFor(() => expect(text()).toContain(empty))
})

test('a log counts its lines, with those that were skipped', async () => {
  renderPage({ detail: createDetail(running), answers: { streamBuildLog: logOf(logEvent('one'), createEvent('lagged', { dropped: 7 })) } })
  expect(await screen.findByText('2 lines')).toBeTruthy()
})

test('the log has a section for each step that began', () => {
  const steps = [createStep('clone', 'done'), createStep('install', 'failed'), createStep('build', 'skipped'), createStep('start', 'pending')]
  renderPage({ detail: createDetail({ status: 'failed', steps }) })
  const options = within(screen.getByLabelText('Log section')).getAllByRole('option')
  expect(options.map(({ textContent }) => textContent)).toEqual(['Everything', 'Fetching source', 'Installing dependencies'])
})

const failed = createDetail({
  status: 'failed',
  steps: [createStep('build', 'failed')],
  error: { code: 'build_failed', message: 'The build failed.', hint: 'Read the log.' },
})

test('a failed deployment waits for its log', () => expect(renderPage({ detail: failed }).text()).toBe('Loading'))

test('a failed deployment shows the line of its error, and the log goes there', async () => {
  const { user } = renderPage({
    detail: failed,
    answers: { streamBuildLog: logOf(logEvent('fine'), logEvent('error: boom', 'stderr')), getDeployment: { deployment: failed } },
  })
  expect((await screen.findByTestId('failure-line')).textContent).toBe('2error: boom')
  const follow = screen.getByRole('button', { name: 'Stop following' })
  await user.click(screen.getByRole('button', { name: 'Show in log' }))
  expect(follow.getAttribute('aria-label')).toBe('Follow new lines')
})

test('a failed deployment without a log has no line', async () => {
  renderPage({ detail: failed, answers: { streamBuildLog: problemResponse('forbidden', 'Not for you.') } })
  expect(await screen.findByTestId('failure')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Show in log' })).toBeNull()
})
