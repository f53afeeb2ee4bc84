import { waitFor } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { startHealthMonitor } from '../../../renderer/features/notifications/health-monitor.ts'
import { toNotification } from '../../../renderer/features/notifications/inbox-notifications.ts'
import { parseStoredNotices, useHealthNotices } from '../../../renderer/features/notifications/store.ts'
import { useHealthNotifications, useNotificationListener } from '../../../renderer/features/notifications/use-notification-listener.ts'
import { useBrowserNotifications } from '../../../renderer/stores/browser-notifications.ts'
import { localConnection } from '../../../renderer/stores/connection.ts'
import type { ApiEvent } from '../../../server/client/operation-types.ts'
import { type ActivityEntry, activityEntry } from '../../../server/contract/activity.ts'
import { doctorCheckWithHelp, instanceOperations } from '../../../server/contract/instance.ts'
import { createExample } from '../../support/contract-example.ts'
import { renderPart } from '../../support/dashboard.tsx'

const createEntry = (own: Partial<ActivityEntry> = {}) =>
  createExample(activityEntry, {
    id: 'act_1',
    action: 'deployment.ready',
    project: { id: 'prj_1', slug: 'shop' },
    target: { id: 'dpl_1', name: null },
    details: { names: [], branch: null, commit_sha: null, failure: null },
    ...own,
  })
const createSession = (is_instance_owner: boolean) => {
  const session = createExample(instanceOperations.getSession.success.json)
  return { ...session, user: { ...session.user, id: 'usr_1', is_instance_owner } }
}

beforeEach(() => useHealthNotices.setState({ lists: {} }))
afterEach(() => {
  useHealthNotices.setState({ lists: {} })
  useBrowserNotifications.setState({ state: 'unsupported' })
  sessionStorage.clear()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const details = { names: [], branch: 'docs', commit_sha: '3f8a6c1d2b4e', failure: 'build_failed' }
test.each<[Partial<ActivityEntry>, string | undefined, string, string, string]>([
  [{ details }, 'Shop', 'Shop is ready', 'Build failed · docs · 3f8a6c1', 'done'],
  [{ details, target: { id: 'dpl_1', name: 'docs' } }, 'Shop', 'Preview of docs is ready', 'Shop · Build failed · 3f8a6c1', 'done'],
  [{ action: 'deployment.failed' }, undefined, 'shop failed', '', 'failed'],
  [{ action: 'project.crashed', project: null }, undefined, 'The app crashed', '', 'failed'],
  [{ action: 'service.crashed', target: null }, 'Shop', 'A service of Shop crashed', '', 'failed'],
])('the entry %j of %s is “%s”', (own, name, title, text, kind) => {
  const notice = toNotification(createEntry(own), name)
  expect([notice.title, notice.text, notice.kind]).toEqual([title, text, kind])
})

test('an entry without a page opens the activity', () => {
  expect(toNotification(createEntry({ project: null, action: 'user.invited' }), undefined).path).toBe('/activity')
})

const stubNotifications = () => {
  const shown: string[] = []
  class FakeNotification extends EventTarget {
    constructor(title: string, { body }: NotificationOptions) {
      super()
      shown.push(`${title}: ${body}`)
    }
  }
  vi.stubGlobal('Notification', FakeNotification)
  useBrowserNotifications.setState({ state: 'on' })
  return shown
}
const listen = (entry: ActivityEntry) => {
  const listeners: ((event: ApiEvent<'followInstance'>) => void)[] = []
  const Listener = () => {
    listeners.push(useNotificationListener(localConnection))
    return null
  }
  const part = renderPart(<Listener />, {
    data: [
      [queryKeys.session, createSession(false)],
      [queryKeys.activityInbox, { entries: [entry], unread: 0 }],
    ],
    answers: { markActivityRead: new Response(null, { status: 204 }) },
  })
  listeners[0]?.({ event: 'activity', id: null, data: { entry } })
  return part
}
const other = createEntry().actor

test('an event is a notification of the browser while the page is hidden', async () => {
  const shown = stubNotifications()
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  history.replaceState(null, '', '/app/projects/shop')
  const { sent } = listen(createEntry({ actor: { ...other, user_id: 'usr_2' } }))
  await waitFor(() => expect(shown).toEqual(['shop is ready: ']))
  expect(sent).toEqual([])
})

test('an event of the page that the user looks at is read at once', async () => {
  const shown = stubNotifications()
  history.replaceState(null, '', '/app/projects/shop')
  const { sent } = listen(createEntry({ actor: { ...other, user_id: 'usr_2' } }))
  await waitFor(() => expect(sent).toEqual([{ operation: 'markActivityRead', params: {}, body: { id: 'act_1' } }]))
  expect(shown).toEqual([])
})

const disk = createExample(doctorCheckWithHelp, { name: 'disk', status: 'warning', message: '2 GB are left.', hint: 'Free some.', help: null })
const answers = { doctor: { ...createExample(instanceOperations.doctor.success.json), checks: [disk] } }

test('the health of an instance is checked after 5 seconds and every 5 minutes, until it stops', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  renderPart(<></>, { answers })
  const notify = vi.fn()
  const stop = startHealthMonitor(localConnection.client, [], notify)
  await vi.advanceTimersByTimeAsync(4_999)
  expect(notify).not.toHaveBeenCalled()
  const fetched = vi.spyOn(globalThis, 'fetch')
  await vi.advanceTimersByTimeAsync(1)
  await vi.waitFor(() => expect(notify.mock.calls.map(([{ title }]) => title)).toEqual(['The disk is nearly full']))
  await vi.advanceTimersByTimeAsync(295_000)
  expect(fetched).toHaveBeenCalledTimes(2)
  stop()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(fetched).toHaveBeenCalledTimes(2)
})

test('the health is not checked while the page is hidden', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  renderPart(<></>, { answers })
  const fetched = vi.spyOn(globalThis, 'fetch')
  const stop = startHealthMonitor(localConnection.client, [], vi.fn())
  await vi.advanceTimersByTimeAsync(5_000)
  expect(fetched).not.toHaveBeenCalled()
  stop()
})

const HealthNotifications = () => {
  useHealthNotifications(localConnection)
  return null
}

test('the owner of an instance is told about its health', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  renderPart(<HealthNotifications />, { data: [[queryKeys.session, createSession(true)]], answers })
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(5_000)
    expect(useHealthNotices.getState().lists['local']?.notices.map(({ title }) => title)).toEqual(['The disk is nearly full'])
  })
})

test('another user is not told about the health of the instance', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  renderPart(<HealthNotifications />, { data: [[queryKeys.session, createSession(false)]], answers })
  const fetched = vi.spyOn(globalThis, 'fetch')
  await import('../../../renderer/features/notifications/health-monitor.ts')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(fetched).not.toHaveBeenCalled()
})

test.each<[string, unknown, string[]]>([
  ['a list', { local: { unread: 1, notices: [{ id: '1', title: 'Disk', text: 'Full.', path: null, at: '2026' }] } }, []],
  ['a list with paths', { local: { unread: 1, notices: [{ id: '1', title: 'Disk', text: 'Full.', path: '/', at: '2026' }] } }, ['local']],
  ['a list without a count', { local: { notices: [] } }, []],
  ['a list without notices', { local: { unread: 0 } }, []],
  ['nothing in place of a list', { local: null }, []],
  ['a number', 1, []],
])('notices of another version of the dashboard: %s', (_, stored, instances) =>
  expect(Object.keys(parseStoredNotices(JSON.stringify(stored)))).toEqual(instances),
)

test.each([null, '{', 'null'])('no notices are stored as %s', (text) => expect(parseStoredNotices(text)).toEqual({}))
