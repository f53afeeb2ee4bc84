import { expect, type Page } from '@playwright/test'
import type { ActivityEntry } from '../../server/contract/activity.ts'
import type { Screen } from './screen.ts'

const ana = { kind: 'user', id: 'usr_2', name: 'ana@example.com', user_id: 'usr_2', email: 'ana@example.com' } as const
const ci = { kind: 'token', id: 'tok_1', name: 'ci', user_id: 'usr_2', email: 'ana@example.com' } as const
const push = { kind: 'push', id: null, name: 'Push', user_id: null, email: null } as const
const schedule = { kind: 'schedule', id: null, name: 'Schedule', user_id: null, email: null } as const
const system = { kind: 'system', id: null, name: 'Homeport', user_id: null, email: null } as const
const none = { names: [], branch: null, commit_sha: null, failure: null }
const deployment = { ...none, branch: 'main', commit_sha: '4f2a91c0d7e8' }

/** One of each kind, newest first. */
const kinds: Partial<ActivityEntry>[] = [
  { action: 'deployment.failed', actor: push, target: { id: 'dpl_2', name: null }, details: { ...deployment, failure: 'build_failed' } },
  { action: 'deployment.created', actor: push, target: { id: 'dpl_2', name: null }, details: deployment },
  { action: 'env_vars.set', actor: ana, via: 'dashboard', details: { ...none, names: ['API_KEY', 'MODE'] }, client_ip: '192.168.2.0' },
  { action: 'deployment.ready', actor: system, target: { id: 'dpl_1', name: null }, details: deployment },
  { action: 'deployment.created', actor: ci, via: 'api', target: { id: 'dpl_1', name: null }, details: deployment, client_ip: '203.0.113.0' },
  { action: 'domain.verified', actor: schedule, target: { id: 'dom_1', name: 'boats.example.com' } },
  { action: 'preview.closed', actor: schedule, target: { id: null, name: 'tides' }, details: { ...none, branch: 'tides' } },
  { action: 'project.crashed', actor: system },
  { action: 'service.crashed', actor: system, target: { id: null, name: 'worker' } },
  { action: 'volume.restored', actor: ana, via: 'cli', target: { id: null, name: 'uploads' } },
  { action: 'token.created', actor: ana, via: 'dashboard', target: { id: 'tok_1', name: 'ci' }, project: null },
  { action: 'settings.updated', actor: ana, via: 'agent', details: { ...none, names: ['build_concurrency'] }, project: null },
]

const createEntry = (index: number): ActivityEntry => ({
  id: `act_${index}`,
  time: new Date(Date.now() - 40_000 - index * 1_800_000).toISOString(),
  actor: system,
  via: null,
  action: 'project.created',
  project: { id: 'prj_1', slug: 'harbour-shop' },
  target: null,
  details: none,
  client_ip: null,
  request_id: null,
  ...kinds[index % kinds.length],
})

const withActivity =
  (count: number) =>
  async (page: Page): Promise<void> => {
    const entries = Array.from({ length: count }, (_, index) => createEntry(index))
    await page.route(/\/instance\/(?:projects\/[^/]+\/)?activity(?:\?|$)/, (route) =>
      route.fulfill({ json: { entries, next_cursor: count > 20 ? 'czE' : null } }),
    )
    await page.route('**/instance/activity/inbox', (route) =>
      route.fulfill({ json: { entries: entries.filter(({ actor }) => actor.user_id === null), unread: Math.min(3, count) } }),
    )
  }

const list = (page: Page) => page.getByRole('region', { name: 'Activity' })

/** What changed, and the bell. */
export const activityScreens: Screen[] = [
  { name: 'activity', path: 'activity', before: withActivity(22), act: (page) => expect(list(page).getByText('Load more')).toBeVisible() },
  {
    name: 'activity-project',
    path: 'projects/harbour-shop/activity',
    before: withActivity(11),
    act: (page) => expect(list(page).getByText(/set 2 variables/)).toBeVisible(),
  },
  { name: 'activity-empty', path: 'activity', before: withActivity(0), act: (page) => expect(page.getByText('No activity yet')).toBeVisible() },
  {
    name: 'activity-no-match',
    path: 'activity?actor=token',
    before: withActivity(0),
    act: (page) => expect(page.getByText('No changes match')).toBeVisible(),
  },
  {
    name: 'notices',
    path: '',
    async act(page) {
      await page.getByRole('button', { name: 'Notifications' }).filter({ visible: true }).click()
      await page.getByRole('menu', { name: 'Notifications' }).waitFor()
    },
  },
  {
    name: 'notices-unread',
    path: '',
    before: withActivity(11),
    async act(page) {
      await page
        .getByRole('button', { name: /^Notifications: \d+ new$/ })
        .filter({ visible: true })
        .click()
      await page.getByRole('menu', { name: 'Notifications' }).waitFor()
    },
  },
]
