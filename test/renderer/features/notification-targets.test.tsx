import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { describeRules } from '../../../renderer/features/notification-targets/describe-rules.ts'
import { Targets } from '../../../renderer/features/notification-targets/targets.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useBrowserNotifications } from '../../../renderer/stores/browser-notifications.ts'
import { defaultNotificationRules } from '../../../server/contract/notification-defaults.ts'
import { type NotificationRules, type NotificationTarget, notificationTarget } from '../../../server/contract/notifications.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

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
afterEach(() => {
  useConnection.setState({ current: localConnection })
  useBrowserNotifications.setState({ state: 'unsupported' })
})

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
