import type { Page } from '@playwright/test'
import type { DeployHook } from '../../server/contract/deploy-hooks.ts'
import { defaultNotificationRules } from '../../server/contract/notification-defaults.ts'
import type { NotificationDelivery, NotificationTarget } from '../../server/contract/notifications.ts'
import type { Screen } from './screen.ts'

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

const target = (id: string, change: Partial<NotificationTarget>): NotificationTarget => ({
  id,
  type: 'email',
  name: 'team@example.com',
  address: 'team@example.com',
  rules: defaultNotificationRules,
  projects: null,
  is_enabled: true,
  created_at: ago(3000),
  last_delivery: null,
  ...change,
})
const targets = [
  target('ntt_1', {}),
  target('ntt_2', {
    type: 'webhook',
    name: 'Status page',
    address: 'https://hooks.example.com/homeport/with/a/long/path/that/does/not/fit/on/a/telephone?key=4711',
    rules: { ...defaultNotificationRules, deployment_ready: true, error_rate: { percent: 5, minutes: 10 } },
  }),
  target('ntt_3', { type: 'slack', name: '#deployments', address: 'https://hooks.slack.com/…', is_enabled: false }),
]

const delivery = (id: string, change: Partial<NotificationDelivery>): NotificationDelivery => ({
  id,
  target_id: 'ntt_1',
  event: 'deployment.failed',
  project: 'harbour-shop',
  title: 'Deployment of Harbour shop failed',
  status: 'delivered',
  attempts: [{ number: 1, at: ago(2), status: null, duration_ms: 412, error: null }],
  next_attempt_at: null,
  created_at: ago(2),
  ...change,
})
const deliveries = [
  delivery('ntf_4', { event: 'app.crashed', title: 'Harbour shop crashed', status: 'pending', attempts: [], next_attempt_at: ago(-1) }),
  delivery('ntf_3', {}),
  delivery('ntf_2', {
    target_id: 'ntt_2',
    event: 'error_rate.exceeded',
    title: 'Harbour shop: 12.4 % of requests fail',
    status: 'failed',
    attempts: Array.from({ length: 8 }, (_, index) => ({
      number: index + 1,
      at: ago(900 - index),
      status: 503,
      duration_ms: 31,
      error: 'The response has the status 503.',
    })),
    created_at: ago(900),
  }),
  delivery('ntf_1', { target_id: 'ntt_2', attempts: [{ number: 1, at: ago(2), status: 200, duration_ms: 38, error: null }] }),
]
const hooks: DeployHook[] = [
  { id: 'dhk_1', name: 'CMS', branch: null, last4: 'x7Qf', last_used_at: ago(14), created_at: ago(9000) },
  { id: 'dhk_2', name: 'Nightly content import of the translation team', branch: 'staging', last4: 'P0aa', last_used_at: null, created_at: ago(60) },
]

/** The seeded platform has sent nothing. */
async function withNotifications(page: Page): Promise<void> {
  await page.route('**/notifications/targets', (route) =>
    route.request().method() === 'GET' ? route.fulfill({ json: { targets, can_send_email: false } }) : route.fallback(),
  )
  await page.route('**/notifications/deliveries?*', (route) => route.fulfill({ json: { deliveries, next_cursor: null } }))
}
const withHooks = (page: Page) => page.route('**/deploy-hooks', (route) => route.fulfill({ json: { deploy_hooks: hooks } }))

const path = 'projects/harbour-shop/notifications'
const openDialog = async (page: Page) => {
  await page.getByRole('button', { name: 'Add target' }).click()
  await page.getByRole('dialog', { name: 'Add target' }).waitFor()
}

export const notificationScreens: Screen[] = [
  { name: 'notifications', path, before: withNotifications, act: (page) => page.getByRole('list', { name: 'Recent deliveries' }).waitFor() },
  { name: 'notifications-none', path, act: (page) => page.getByRole('heading', { name: 'No targets yet' }).waitFor() },
  {
    name: 'notifications-add',
    path,
    before: withNotifications,
    async act(page) {
      await openDialog(page)
      await page.getByLabel('Type').selectOption('webhook')
      await page.getByRole('checkbox', { name: 'Error rate' }).check()
    },
  },
  {
    name: 'notifications-edit',
    path,
    before: withNotifications,
    act: (page) => page.getByRole('button', { name: 'Edit Status page' }).click(),
  },
  { name: 'notifications-account', path: 'account/notifications', before: withNotifications, act: openDialog },
  {
    name: 'deploy-hooks',
    path: 'projects/harbour-shop/settings',
    before: withHooks,
    act: (page) => page.getByRole('list', { name: 'Deploy hooks' }).scrollIntoViewIfNeeded(),
  },
  {
    name: 'deploy-hooks-create',
    path: 'projects/harbour-shop/settings',
    before: withHooks,
    act: (page) => page.getByRole('button', { name: 'Create hook' }).click(),
  },
]
