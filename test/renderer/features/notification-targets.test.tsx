import { screen, waitFor, within } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { describeRules } from '../../../renderer/features/notification-targets/describe-rules.ts'
import { Targets } from '../../../renderer/features/notification-targets/targets.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useBrowserNotifications, type BrowserNotificationState } from '../../../renderer/stores/browser-notifications.ts'
import { defaultNotificationRules } from '../../../server/contract/notification-defaults.ts'
import {
  type NotificationRules,
  type NotificationTarget,
  notificationTarget,
  type NotificationDelivery,
  notificationAttempt,
  notificationDelivery,
} from '../../../server/contract/notifications.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart, type PartOptions, problemResponse } from '../../support/dashboard.tsx'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import AccountNotificationsPage from '../../../renderer/features/notification-targets/account-page.tsx'
import NotificationsPage from '../../../renderer/features/notification-targets/page.tsx'
import { NotificationSections } from '../../../renderer/features/notification-targets/sections.tsx'
import { instanceOperations } from '../../../server/contract/instance.ts'

const createTarget = (own: Partial<NotificationTarget> = {}) =>
  createExample(notificationTarget, {
    id: 'tgt_1',
    type: 'webhook',
    name: 'Team',
    address: 'https://hooks.example.com/team',
    rules: defaultNotificationRules,
    projects: null,
    is_enabled: true,
    ...own,
  })
afterEach(() => useBrowserNotifications.setState({ state: 'unsupported' }))

test.each<[string, Partial<NotificationRules>, string]>([
  ['no rule', { deployment_failed: false, app_crashed: false }, 'No events'],
  ['the rules of a new target', {}, 'Deployment failed, App crashed'],
  [
    'all rules',
    { deployment_ready: true, error_rate: { percent: 2.5, minutes: 10 }, disk: true, certificate: true },
    'Deployment failed, Deployment ready, App crashed, Error rate above 2.5 % for 10 min, Disk nearly full, Certificates expire or cannot be issued',
  ],
])('%s in words', (_, rules, expected) => expect(describeRules({ ...defaultNotificationRules, ...rules })).toBe(expected))

test.each<[string, Partial<NotificationTarget>, boolean, string]>([
  [
    'a webhook',
    {},
    false,
    'Targets Add target [Targets] TeamWebhook https://hooks.example.com/team Deployment failed, App crashed [Send test to Team] Send test [Edit Team] [Delete Team]',
  ],
  [
    'a webhook of some projects, with another name',
    { name: 'https://hooks.example.com/team', projects: ['shop', 'blog'] },
    true,
    'Targets Add target [Targets] https://hooks.example.com/teamWebhook Deployment failed, App crashed · shop, blog [Send test to https://hooks.example.com/team] Send test [Edit https://hooks.example.com/team] [Delete https://hooks.example.com/team]',
  ],
  [
    'an email address',
    { type: 'email', address: 'ada@example.com' },
    true,
    'Targets Add target [Targets] TeamEmail ada@example.com Deployment failed, App crashed [Send test to Team] Send test [Edit Team] [Delete Team]',
  ],
  [
    'an email address on an instance without a mail server',
    { type: 'email', name: 'ada@example.com', address: 'ada@example.com' },
    false,
    'Targets Add target [Targets] ada@example.comEmailNo mail server Deployment failed, App crashed No email is sent, because this instance has no mail server. Set HOMEPORT_SMTP_URL and restart Homeport. [Send test to ada@example.com] Send test [Edit ada@example.com] [Delete ada@example.com]',
  ],
  [
    'a Slack channel that is off',
    { type: 'slack', is_enabled: false },
    false,
    'Targets Add target [Targets] TeamSlackOff https://hooks.example.com/team Deployment failed, App crashed [Send test to Team] Send test [Edit Team] [Delete Team]',
  ],
])('the target is %s', (_, own, canSendEmail, expected) => {
  expect(renderPart(<Targets slug="my-shop" targets={[createTarget(own)]} canSendEmail={canSendEmail} />).text()).toBe(expected)
})

test('a project without targets offers to add one', async () => {
  const { user, text } = renderPart(<Targets slug="my-shop" targets={[]} canSendEmail />)
  expect(text()).toBe(
    'Targets No targets yet Homeport sends an email, calls a signed webhook or writes to Slack when a deployment fails or an app crashes. How it works Add target',
  )
  await user.click(screen.getByRole('button', { name: 'Add target' }))
  expect(screen.getByRole('dialog', { name: 'Add target' })).toBeTruthy()
})

test.each([
  ['of a project', 'my-shop', { operation: 'testNotificationTarget', params: { slug: 'my-shop', id: 'tgt_1' } }],
  ['of the account', null, { operation: 'testAccountNotificationTarget', params: { id: 'tgt_1' } }],
])('a target %s is tested', async (_, slug, request) => {
  const { user, sent } = renderPart(<Targets slug={slug} targets={[createTarget()]} canSendEmail />)
  const button = screen.getByRole('button', { name: 'Send test to Team' })
  await user.click(button)
  expect(sent).toEqual([request])
  expect(button.getAttribute('aria-busy')).toBe('true')
})

test.each([
  ['of a project', 'my-shop', { operation: 'deleteNotificationTarget', params: { slug: 'my-shop', id: 'tgt_1' } }],
  ['of the account', null, { operation: 'deleteAccountNotificationTarget', params: { id: 'tgt_1' } }],
])('a target %s is deleted after a question', async (_, slug, request) => {
  const deleted = new Response(null, { status: 204 })
  const answers = { deleteNotificationTarget: deleted, deleteAccountNotificationTarget: deleted.clone() }
  const { user, sent, text } = renderPart(<Targets slug={slug} targets={[createTarget()]} canSendEmail />, { answers })
  await user.click(screen.getByRole('button', { name: 'Delete Team' }))
  expect(text()).toContain('Delete “Team”? It gets no more notifications, and its recent ones are deleted.')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await user.click(screen.getByRole('button', { name: 'Delete Team' }))
  await user.click(screen.getByRole('button', { name: 'Delete target' }))
  expect(sent).toEqual([request])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})

const session = createExample(instanceOperations.getSession.success.json)
const createDelivery = (own: Partial<NotificationDelivery> = {}) =>
  createExample(notificationDelivery, { id: 'dlv_1', target_id: 'tgt_1', title: 'Shop failed', status: 'delivered', attempts: [], ...own })
const attempt = createExample(notificationAttempt, { status: 200, duration_ms: 12, error: null })

const showSections = (
  {
    slug = 'my-shop' as string | null,
    targets = [createTarget()],
    deliveries = [] as NotificationDelivery[] | null,
    next_cursor = null as string | null,
  },
  answers: PartOptions['answers'] = {},
) =>
  renderPart(<NotificationSections slug={slug} />, {
    data: [
      [queryKeys.session, session],
      [queryKeys.notificationTargets(slug), { targets, can_send_email: true }],
      [queryKeys.notificationDeliveries(slug), deliveries === null ? undefined : { pages: [{ deliveries, next_cursor }], pageParams: [null] }],
    ],
    answers,
  })

test.each<[string, Partial<NotificationDelivery>, string]>([
  ['pending', { status: 'pending' }, 'PendingShop failedTeam · Jan 31, 2026'],
  ['delivered', { attempts: [attempt] }, 'DeliveredShop failedTeam · Jan 31, 2026 · 200 in 12 msRedeliver'],
  ['delivered by email', { attempts: [{ ...attempt, status: null }] }, 'DeliveredShop failedTeam · Jan 31, 2026 · sent in 12 msRedeliver'],
  [
    'failed twice',
    { status: 'failed', attempts: [attempt, { ...attempt, status: 500, error: 'HTTP 500' }] },
    'FailedShop failedTeam · Jan 31, 2026 · 2 attempts · HTTP 500Redeliver',
  ],
  ['of a target that is gone', { target_id: 'tgt_2' }, 'DeliveredShop failedDeleted target · Jan 31, 2026Redeliver'],
])('a delivery that is %s', (_, own, expected) => {
  showSections({ deliveries: [createDelivery(own)] })
  expect(within(screen.getByRole('list', { name: 'Recent deliveries' })).getByRole('listitem').textContent).toBe(expected)
})

test.each([
  ['of a project', 'my-shop', { operation: 'redeliverNotification', params: { slug: 'my-shop', id: 'dlv_1' } }],
  ['of the account', null, { operation: 'redeliverAccountNotification', params: { id: 'dlv_1' } }],
])('a notification %s is delivered again', async (_, slug, request) => {
  const { user, sent } = showSections({ slug, deliveries: [createDelivery()] })
  await user.click(screen.getByRole('button', { name: 'Redeliver Shop failed' }))
  expect(sent).toEqual([request])
})

test('more deliveries are loaded', async () => {
  const answers = { listNotificationDeliveries: { deliveries: [createDelivery({ title: 'Shop crashed' })], next_cursor: null } }
  const { user } = showSections({ deliveries: [createDelivery({ id: 'dlv_2' })], next_cursor: 'next' }, answers)
  await user.click(screen.getByRole('button', { name: 'Show more' }))
  expect(await screen.findByText('Shop crashed')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull()
})

const readParts = () =>
  screen.getAllByRole('region').map((one) => one.getAttribute('aria-label') ?? within(one).getAllByRole('heading')[0]?.textContent)
test('deliveries are shown with their targets', () => {
  const { text } = showSections({})
  expect(readParts()).toEqual(['Targets', 'This browser', 'Recent deliveries'])
  expect(text()).toContain('None in the last 30 days.')
})

test('without targets there are no deliveries', () => {
  showSections({ targets: [] })
  expect(readParts()).toEqual(['Targets', 'This browser'])
})

test('targets wait for their deliveries', () => expect(showSections({ deliveries: null }).text()).toBe('Loading'))

test.each([
  ['without an API for instances', null, {}],
  ['of an earlier version', session, { listNotificationTargets: problemResponse('route_not_found', 'There is no such route.') }],
])('an instance %s has no targets', async (_, value, answers) => {
  useConnection.setState({ current: { ...localConnection, id: 'remote_1' } })
  const { text } = renderPart(<NotificationsPage slug="my-shop" />, { data: [[queryKeys.session, value]], answers })
  await waitFor(() =>
    expect(text()).toBe('No notification targets This instance does not send notifications. A newer Homeport on your own machine does.'),
  )
})

test('targets that cannot be loaded are explained', async () => {
  renderPart(<AccountNotificationsPage />, { answers: { listAccountNotificationTargets: problemResponse('forbidden', 'You may not see this.') } })
  expect((await screen.findByRole('alert')).textContent).toContain('You may not see this.')
})

test.each<[BrowserNotificationState, boolean, boolean, string]>([
  ['on', true, false, 'Shown by this browser while the dashboard is open in a tab that you are not looking at.'],
  ['off', false, false, 'Shown by this browser while the dashboard is open in a tab that you are not looking at.'],
  ['denied', false, true, 'This browser blocks notifications of this page. Allow them in its settings for this site.'],
  ['unsupported', false, true, 'This browser cannot show notifications here.'],
])('notifications of the browser are %s', async (state, isOn, isDisabled, hint) => {
  const [turnOn, turnOff] = [vi.fn(), vi.fn()]
  const before = useBrowserNotifications.getState()
  useBrowserNotifications.setState({ state, turnOn, turnOff })
  const { user } = showSections({})
  const choice = screen.getByRole<HTMLButtonElement>('switch', { name: 'Notifications in this browser' })
  expect([choice.getAttribute('aria-checked'), choice.disabled, screen.queryByText(hint) !== null]).toEqual([String(isOn), isDisabled, true])
  await user.click(choice)
  expect([turnOn.mock.calls.length, turnOff.mock.calls.length]).toEqual([state === 'off' ? 1 : 0, state === 'on' ? 1 : 0])
  useBrowserNotifications.setState(before)
})
