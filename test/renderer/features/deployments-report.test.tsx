import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { DeploymentStatusCard, redeployMessages } from '../../../renderer/features/deployments/deployment-status-card.tsx'
import { FailureReport } from '../../../renderer/features/deployments/failure-report.tsx'
import { Timeline } from '../../../renderer/features/deployments/timeline.tsx'
import {
  type DeploymentDetail,
  type DeploymentFailure,
  type DeploymentStatus,
  type StepStatus,
  deploymentDetail,
} from '../../../server/contract/deployments.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

const createDetail = (own: Partial<DeploymentDetail> = {}) => createExample(deploymentDetail, { id: 'dpl_1', status: 'ready', steps: [], ...own })
const button = (name: string) => screen.getByRole('button', { name })

const messages = redeployMessages('the new variable', ', without it')
test.each<[DeploymentStatus, boolean, string]>([
  ['queued', true, 'QueuedRedeploying with the new variable…'],
  ['building', false, 'BuildingRedeploying with the new variable…'],
  ['ready', false, 'ReadyThe app is running with the new variable.'],
  ['failed', true, 'FailedThe deployment with the new variable failed. The previous version is still live, without it.'],
  ['canceled', true, 'CanceledThe deployment with the new variable was canceled. The previous version is still live, without it.'],
])('a followed deployment that is %s', async (status, hidesSuccess, expected) => {
  const onDismiss = vi.fn()
  const data: PartOptions['data'] = [[queryKeys.deployment('shop', 'dpl_1'), createDetail({ status })]]
  const card = <DeploymentStatusCard slug="shop" id="dpl_1" messages={messages} hidesSuccess={hidesSuccess} onDismiss={onDismiss} />
  const { user, text } = renderPart(card, { data })
  expect(text()).toBe(`${expected} View deployment Dismiss`)
  await user.click(button('Dismiss'))
  expect(onDismiss.mock.calls).toHaveLength(1)
})

test.each<[string, DeploymentDetail | undefined]>([
  ['loads', undefined],
  ['is ready, after a later change', createDetail()],
])('a followed deployment that %s is hidden', (_, detail) => {
  const data: PartOptions['data'] = detail ? [[queryKeys.deployment('shop', 'dpl_1'), detail]] : []
  const card = <DeploymentStatusCard slug="shop" id="dpl_1" messages={redeployMessages('it')} hidesSuccess onDismiss={() => {}} />
  expect(renderPart(card, { data }).text()).toBe('')
})

const stepTimes = { started_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:05.000Z' }
const noTimes = { started_at: null, finished_at: null }
test.each<[StepStatus, DeploymentStatus, object, string, string | null]>([
  ['done', 'ready', stepTimes, 'Building done5.0 s', null],
  ['pending', 'building', noTimes, 'Building waiting', null],
  ['failed', 'failed', stepTimes, 'Building failed5.0 s', null],
  ['canceled', 'canceled', stepTimes, 'Building canceled5.0 s', null],
  ['skipped', 'ready', stepTimes, 'Building skipped', null],
  ['skipped', 'failed', noTimes, 'Building not reached', null],
  ['running', 'building', stepTimes, 'Building running5.0 s', 'step'],
])('a step that is %s in a deployment that is %s', (status, of, times, expected, current) => {
  const { text } = renderPart(<Timeline deployment={createDetail({ status: of, steps: [{ name: 'build', status, ...noTimes, ...times }] })} />)
  expect(text()).toBe(`[Steps] ${expected}`)
  const step = screen.getByRole('listitem')
  expect(step.getAttribute('aria-current')).toBe(current)
  expect(screen.getByText(/^ ?(done|waiting|failed|canceled|skipped|not reached|running)$/).className).toBe(
    ['done', 'pending', 'skipped'].includes(status) ? 'visually-hidden' : 'text-subtle',
  )
})

const failure: DeploymentFailure = { code: 'build_failed', message: 'The build failed.', hint: 'Read the log. Last output:\nboom' }
const line = (number: number) => ({ number, text: `line ${number}`, source: 'stderr' as const, ts: null, group: 'build' })
test.each<[string, Partial<DeploymentFailure>, string]>([
  ['without a variable', {}, 'build_failed'],
  ['without its database', { message: 'A variable is missing: DATABASE_URL' }, 'Create a database Add DATABASE_URLbuild_failed'],
  ['without another variable', { message: 'A variable is missing: KEY' }, 'Add KEYbuild_failed'],
])('a failure %s offers what helps', (_, own, expected) => {
  const failed = { ...failure, ...own }
  const { text } = renderPart(
    <FailureReport slug="shop" deployment={createDetail({ error: failed })} failure={failed} errorLine={null} onShow={undefined} />,
  )
  expect(text()).toContain(`${failed.message} Read the log. Last output: boom ${expected}`)
  expect(screen.queryByRole('figure')).toBeNull()
})

test('a missing variable is added on its page', () => {
  const missing = { ...failure, message: 'A variable is missing: DATABASE_URL' }
  renderPart(<FailureReport slug="shop" deployment={createDetail({ error: missing })} failure={missing} errorLine={null} onShow={undefined} />)
  const addresses = screen.getAllByRole('link').map((link) => link.getAttribute('href'))
  expect(addresses.slice(0, 2)).toEqual(['/projects/shop/database', '/projects/shop/environment?do=add&key=DATABASE_URL'])
})

test('a failure shows its line of the log', async () => {
  const onShow = vi.fn()
  const [before, at] = [line(7), line(8)]
  const { user, text } = renderPart(
    <FailureReport
      slug="shop"
      deployment={createDetail({ error: failure })}
      failure={failure}
      errorLine={{ line: at, context: [before, at] }}
      onShow={onShow}
    />,
  )
  expect(text()).toMatch(/^The build failed\. Read the log\. \[Log excerpt\] 7line 7 8line 8 build_failed/)
  expect(screen.getByTestId('failure-line').textContent).toBe('8line 8')
  await user.click(button('Show in log'))
  expect(onShow.mock.calls).toHaveLength(1)
})
