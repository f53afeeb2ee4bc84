import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Route } from 'wouter'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import DeploymentPage from '../../../renderer/features/deployments/detail-page.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type Deployment, type DeploymentDetail, type StepName, type StepStatus, deploymentDetail } from '../../../server/contract/deployments.ts'
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
const createEvent = (event: string, data: object) => `event: ${event}\nid: 1\ndata: ${JSON.stringify(data)}\n\n`
const logEvent = (line: string, stream = 'stdout') => createEvent('log', { seq: 1, ts: startedAt, step: 'build', stream, line })
const logOf = (...events: string[]) =>
  new Response([...events, createEvent('end', { status: 'ready' })].join(''), { headers: { 'content-type': 'text/event-stream' } })
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
const logFoot = () => within(screen.getByTestId('log-foot')).getByRole('status').textContent

beforeEach(() => history.replaceState(null, '', '/app/projects/shop/deployments/dpl_1'))
afterEach(() => {
  useUi.setState({ toasts: [] })
  vi.restoreAllMocks()
  history.replaceState(null, '', '/app/')
})

const running = { status: 'building', finished_at: null } as const
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
