import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ActivityEntry } from '../../server/contract/activity.ts'
import type { DoctorCheckWithHelp } from '../../server/contract/instance.ts'
import type { ApiClient } from '../../renderer/api/api-client.ts'
import { queryKeys } from '../../renderer/api/query-keys.ts'
import { toNotification } from '../../renderer/features/notifications/inbox-notifications.ts'
import { createNotificationListener } from '../../renderer/features/notifications/notification-listener.ts'
import { createHealthNotifier } from '../../renderer/features/notifications/health-monitor.ts'
import { type DashboardNotification, maxNotifications, useHealthNotices } from '../../renderer/features/notifications/store.ts'
import { until } from '../support/until.ts'

let notices: DashboardNotification[]

const entry = (action: string, more: Partial<ActivityEntry> = {}): ActivityEntry => ({
  id: 'act_1',
  time: '2026-01-01T00:01:00.000Z',
  actor: { kind: 'system', id: null, name: 'Homeport', user_id: null, email: null },
  via: null,
  action,
  project: { id: 'prj_1', slug: 'shop' },
  target: null,
  details: { names: [], branch: null, commit_sha: null, failure: null },
  client_ip: null,
  request_id: null,
  ...more,
})

beforeEach(() => {
  notices = []
})

describe('the inbox of the instance', () => {
  const deployment = (branch: string | null) => ({ id: 'dpl_1', name: branch })
  const of = (one: ActivityEntry) => {
    const { title, text, path, kind } = toNotification(one, 'Harbour shop')
    return [title, text, path, kind]
  }

  it('names the project, the branch of a preview, and why a deployment failed', () => {
    const details = { names: [], branch: 'tides', commit_sha: '0123456789', failure: 'build_failed' }
    const path = '/projects/shop/deployments/dpl_1'
    expect(of(entry('deployment.ready', { target: deployment(null) }))).toEqual(['Harbour shop is ready', '', path, 'done'])
    expect(of(entry('deployment.failed', { target: deployment('tides'), details }))).toEqual([
      'Preview of tides failed',
      'Harbour shop · Build failed · 0123456',
      path,
      'failed',
    ])
    expect(of(entry('project.crashed'))).toEqual(['Harbour shop crashed', '', '/projects/shop/logs', 'failed'])
    expect(of(entry('service.crashed', { target: { id: null, name: 'worker' } }))).toEqual([
      'worker of Harbour shop crashed',
      '',
      '/projects/shop/services',
      'failed',
    ])
  })

  it('links each entry to what it is about', () => {
    const target = { id: 'dom_1', name: 'boats.example.com' }
    expect(of(entry('domain.verified', { target }))).toEqual([
      'The domain boats.example.com is verified',
      'Harbour shop',
      '/projects/shop/domains',
      'done',
    ])
    const actor = { kind: 'user' as const, id: 'usr_2', name: 'ana@example.com', user_id: 'usr_2', email: 'ana@example.com' }
    expect(of(entry('project.deleted', { actor }))[2]).toBe('/activity')
  })
})

describe('an event of the activity log', () => {
  let cache: QueryClient
  let read: string[]
  let seen: string[]
  let shown: string[]
  let hear: ReturnType<typeof createNotificationListener>
  const send = (one: ActivityEntry) => hear({ event: 'activity', id: null, data: { entry: one } })
  const isStale = () => cache.getQueryState(queryKeys.activityInbox)?.isInvalidated

  beforeEach(() => {
    cache = new QueryClient()
    cache.setQueryData(queryKeys.activityInbox, { entries: [], unread: 0 })
    read = []
    seen = []
    shown = []
    const client = { call: async (_: string, { body }: { body: { id: string } }) => void read.push(body.id) } as unknown as ApiClient
    hear = createNotificationListener({
      client,
      cache,
      myId: () => 'usr_1',
      notify: (notice) => shown.push(notice.title),
      isVisible: (path) => seen.includes(path),
    })
  })

  it('reloads the inbox, except after a change of one’s own', async () => {
    const actor = { kind: 'user' as const, id: 'usr_1', name: 'me@example.com', user_id: 'usr_1', email: 'me@example.com' }
    send(entry('env_vars.set', { actor }))
    expect(isStale()).toBe(false)
    send(entry('deployment.ready'))
    await until(isStale, { what: 'the inbox to be reloaded' })
    expect(read).toEqual([])
  })

  it('is shown if it is in the inbox and the user does not see it happen', async () => {
    const [ready, failed] = [entry('deployment.ready', { id: 'act_1' }), entry('deployment.failed', { id: 'act_2' })]
    cache.setQueryData(queryKeys.activityInbox, { entries: [ready, failed], unread: 2 })
    seen = ['/projects/shop']
    send(ready)
    await until(isStale, { what: 'the inbox to be reloaded' })
    seen = []
    send(failed)
    send(entry('env_vars.set', { id: 'act_3' }))
    await until(() => shown.length > 0 || undefined, { what: 'the notification' })
    expect(shown).toEqual([expect.stringContaining('failed')])
  })

  it('is read at once by who sees it happen, unless others before it are unread', async () => {
    seen = ['/projects/shop']
    send(entry('deployment.ready', { id: 'act_7' }))
    await until(isStale, { what: 'the inbox to be reloaded' })
    expect(read).toEqual(['act_7'])
    cache.setQueryData(queryKeys.activityInbox, { entries: [], unread: 2 })
    send(entry('deployment.ready', { id: 'act_8' }))
    await until(isStale, { what: 'the inbox to be reloaded' })
    expect(read).toEqual(['act_7'])
  })
})

describe('notices about health', () => {
  it('tell the owner about a problem of the instance and its fix, once for as long as it lasts', () => {
    const listen = createHealthNotifier(
      (notice) => notices.push(notice),
      () => notices.length,
    )
    const check = (name: string, status: DoctorCheckWithHelp['status']) => ({ name, status, message: `About ${name}.`, hint: 'Fix it.', help: null })
    listen([check('disk', 'warning'), check('backups', 'ok'), check('git', 'failed')])
    listen([check('disk', 'warning')])
    expect(notices).toEqual([
      {
        id: 'disk warning 0',
        kind: 'failed',
        title: 'The disk is nearly full',
        text: 'About disk.',
        todo: 'Fix it.',
        path: '/instance/disk',
        at: new Date(0).toISOString(),
      },
    ])
    listen([check('disk', 'failed'), check('backups', 'failed'), { ...check('databases docker', 'warning'), help: 'databases' }])
    listen([])
    listen([check('disk', 'warning'), { ...check('port edge', 'warning'), help: 'nowhere' as 'ports' }])
    expect(notices.slice(1).map(({ title, path, is_quiet }) => [title, path, is_quiet])).toEqual([
      ['The disk is full', '/instance/disk', undefined],
      ['A backup failed', '/instance/backups', undefined],
      ['The database server is not running', '/help/databases', undefined],
      ['The disk is nearly full', '/instance/disk', undefined],
      ['Apps use a different port', '/instance', true],
    ])
  })

  it('of the instance do not repeat after a reload of the page', () => {
    const now = () => 1
    const disk: DoctorCheckWithHelp = { name: 'disk', status: 'warning', message: '', hint: '', help: null }
    createHealthNotifier((notice) => notices.push(notice), now)([disk])
    createHealthNotifier((notice) => notices.push(notice), now, notices)([disk])
    expect(notices).toHaveLength(1)
  })

  it('about a lasting state are listed below new ones, and do not count as unread', () => {
    const { add } = useHealthNotices.getState()
    const notice = (id: string, is_quiet = false): DashboardNotification => ({ id, kind: 'done', title: '', text: '', path: '/', at: '', is_quiet })
    add('still', notice('stands', true))
    add('still', notice('news'))
    add('still', notice('also stands', true))
    const board = useHealthNotices.getState().lists['still']
    expect([board?.unread, board?.notices.map(({ id }) => id)]).toEqual([1, ['news', 'also stands', 'stands']])
  })

  it('are stored per instance, up to fifty, and marked as read together', () => {
    const { add, markRead } = useHealthNotices.getState()
    const notice = (number: number): DashboardNotification => ({ id: `n${number}`, kind: 'done', title: '', text: '', path: '/', at: '' })
    for (let number = 0; number < maxNotifications + 9; number++) add('local', notice(number))
    add('local', notice(maxNotifications + 8))
    add('other', notice(1))
    const boards = () => useHealthNotices.getState().lists
    expect([boards()['local']?.notices.length, boards()['local']?.unread, boards()['local']?.notices[0]?.id]).toEqual([
      maxNotifications,
      maxNotifications,
      `n${maxNotifications + 8}`,
    ])
    markRead('local')
    expect([boards()['local']?.unread, boards()['other']?.unread]).toEqual([0, 1])
  })
})
