import { screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { NotificationAnnouncer, NotificationBell } from '../../../renderer/features/notifications/notification-bell.tsx'
import { type DashboardNotification, useHealthNotices } from '../../../renderer/features/notifications/store.ts'
import { type ActivityEntry, activityEntry } from '../../../server/contract/activity.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createEntry = (own: Partial<ActivityEntry> = {}) =>
  createExample(activityEntry, {
    id: 'act_1',
    time: '2026-01-31T12:00:00.000Z',
    action: 'deployment.ready',
    project: { id: 'prj_1', slug: 'shop' },
    target: { id: 'dpl_1', name: null },
    details: { names: [], branch: null, commit_sha: null, failure: null },
    ...own,
  })
const createNotice = (own: Partial<DashboardNotification> = {}): DashboardNotification => ({
  id: 'disk warning 0',
  kind: 'failed',
  title: 'The disk is nearly full',
  text: '2 GB are left.',
  path: '/instance/disk',
  at: '2026-01-30T12:00:00.000Z',
  ...own,
})
beforeEach(() => useHealthNotices.setState({ lists: {} }))
afterEach(() => {
  useHealthNotices.setState({ lists: {} })
  sessionStorage.clear()
})

interface State {
  entries?: ActivityEntry[]
  unread?: number
  health?: { notices: DashboardNotification[]; unread: number }
}
const showBell = ({ entries, unread = 0, health }: State = {}) => {
  if (health) useHealthNotices.setState({ lists: { local: health } })
  return renderPart(
    <>
      <NotificationBell align="end" />
      <NotificationAnnouncer />
    </>,
    {
      data: [
        [queryKeys.activityInbox, entries && { entries, unread }],
        [
          queryKeys.projects,
          { pages: [{ projects: [createExample(project, { id: 'prj_1', name: 'Harbour shop' })], next_cursor: null }], pageParams: [null] },
        ],
      ],
    },
  )
}
const openBell = async (state: State) => {
  const part = showBell(state)
  await part.user.click(screen.getByRole('button', { name: /^Notifications/ }))
  return { ...part, items: screen.getAllByRole('menuitem').map(({ textContent }) => textContent) }
}
const readBadge = () => screen.getByRole('button', { hidden: true, name: /^Notifications/ }).nextElementSibling?.textContent ?? null
const manyEntries = (count: number) => Array.from({ length: count }, (_, index) => createEntry({ id: `act_${index}` }))

test.each<[string, State, string, string | null]>([
  ['while they load', {}, 'Notifications', null],
  ['that are read', { entries: [createEntry()] }, 'Notifications', null],
  ['of which one is new', { entries: manyEntries(2), unread: 1 }, 'Notifications: 1 new', '1'],
  ['of which nine are new', { entries: manyEntries(12), unread: 9 }, 'Notifications: 9 new', '9'],
  ['of which ten are new', { entries: manyEntries(12), unread: 10 }, 'Notifications: 10 new', '9+'],
  ['of which one about the instance is new', { health: { notices: [createNotice()], unread: 1 } }, 'Notifications: 1 new', '1'],
])('the bell counts notifications %s', (_, state, name, badge) => {
  showBell(state)
  expect(screen.getByRole('button').getAttribute('aria-label')).toBe(name)
  expect(readBadge()).toBe(badge)
})

test('the bell says what it is for', async () => {
  const { items } = await openBell({ entries: [] })
  expect(items).toEqual(['No notifications. Updates about deployments, crashes, domains, previews and this instance’s health appear here.'])
})

test('new notifications come first, then the newest', async () => {
  const { items } = await openBell({
    entries: [createEntry(), createEntry({ id: 'act_2', action: 'deployment.failed', time: '2026-01-29T12:00:00.000Z' })],
    unread: 1,
    health: {
      notices: [
        createNotice({ todo: 'Free some space.' }),
        createNotice({ id: 'quiet', title: 'Apps use a different port', is_quiet: true, at: '2026-02-01T12:00:00.000Z' }),
      ],
      unread: 1,
    },
  })
  expect(items.join(' | ')).toBe(
    'Harbour shop is readyJan 31, 2026, new | The disk is nearly full2 GB are left.Free some space.Jan 30, 2026, new | Apps use a different port2 GB are left.Feb 1, 2026 | Harbour shop failedJan 29, 2026',
  )
})

test('a new notification is announced, and one that is read is not', () => {
  showBell({ entries: [createEntry()], unread: 1 })
  expect(screen.getByRole('status').textContent).toBe('Harbour shop is ready')
})

test('a notification that is read is not announced', () => {
  showBell({ entries: [createEntry()] })
  expect(screen.getByRole('status').textContent).toBe('')
})

test('what was seen is read once the bell closes', async () => {
  const { user, sent } = await openBell({ entries: manyEntries(2), unread: 2, health: { notices: [createNotice()], unread: 1 } })
  expect([sent, screen.getAllByText(', new').length]).toEqual([[], 3])
  await user.keyboard('{Escape}')
  expect(sent).toEqual([{ operation: 'markActivityRead', params: {}, body: { id: 'act_0' } }])
  await waitFor(() => expect(screen.getByRole('button').getAttribute('aria-label')).toBe('Notifications'))
})

test('what is read is not marked again', async () => {
  const { user, sent } = await openBell({ entries: [createEntry()] })
  await user.keyboard('{Escape}')
  expect(sent).toEqual([])
})

test.each([
  ['of the inbox', { entries: [createEntry()] }, '/projects/shop/deployments/dpl_1'],
  ['of the instance', { health: { notices: [createNotice()], unread: 0 } }, '/instance/disk'],
])('a notification %s opens its page', async (_, state, path) => {
  const { user } = await openBell(state)
  await user.click(screen.getByRole('menuitem'))
  expect(location.pathname).toBe(path)
})
