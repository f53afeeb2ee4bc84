import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Domain } from '../../server/contract/domains.ts'
import type { DoctorCheckWithHelp } from '../../server/contract/instance.ts'
import type { Project } from '../../server/contract/projects.ts'
import type { ApiClient } from '../../renderer/api/api-client.ts'
import { queryKeys } from '../../renderer/api/query-keys.ts'
import { createNotificationListener } from '../../renderer/features/notifications/notification-listener.ts'
import { createHealthNotifier } from '../../renderer/features/notifications/health-monitor.ts'
import { type DashboardNotification, maxNotifications, useNotifications } from '../../renderer/features/notifications/store.ts'
import { until } from '../support/until.ts'

let cache: QueryClient
let notices: DashboardNotification[]
let seen: string[]
let domains: Partial<Domain>[]
let previews: { branch: string; deployment_id: string }[]
let hear: ReturnType<typeof createNotificationListener>

const project = { id: 'prj_1', slug: 'shop', name: 'Harbour shop', status: 'live', updated_at: '2026-01-01T00:00:00.000Z' } as Project
const deployment = (status: Deployment['status'], more: Partial<Deployment> = {}): Parameters<typeof hear>[0] => ({
  event: 'deployment',
  id: null,
  data: {
    deployment: {
      id: 'dpl_1',
      project_id: 'prj_1',
      status,
      target: 'production',
      source: 'git',
      trigger: 'push',
      commit_message: 'Fix the price list\n\nAll of it',
      finished_at: '2026-01-01T00:01:00.000Z',
      error: null,
      ...more,
    } as Deployment,
  },
})

beforeEach(() => {
  cache = new QueryClient()
  cache.setQueryData(queryKeys.project('shop'), project)
  notices = []
  seen = []
  domains = []
  previews = []
  const client = { call: async () => ({ domains, previews }) } as unknown as ApiClient
  hear = createNotificationListener({
    client,
    cache,
    notify: (notice) => notices.push(notice),
    isVisible: (path) => seen.includes(path),
    now: () => 0,
  })
})

describe('notifications', () => {
  it('report a deployment that was seen running and has ended, once', () => {
    hear(deployment('building'))
    hear(deployment('ready'))
    hear(deployment('ready'))
    expect(notices).toEqual([
      {
        id: 'dpl_1 ready',
        kind: 'done',
        title: 'Harbour shop is ready',
        text: 'Fix the price list',
        path: '/projects/shop/deployments/dpl_1',
        at: '2026-01-01T00:01:00.000Z',
      },
    ])
  })

  it('say why one failed, and the branch of a preview', () => {
    hear(deployment('queued', { target: 'preview', branch: 'tides' }))
    hear(deployment('failed', { target: 'preview', branch: 'tides', error: { message: 'The build ended with code 1.' } as Deployment['error'] }))
    expect(notices.map(({ title, text, kind }) => [title, text, kind])).toEqual([
      ['Preview of tides failed', 'Harbour shop · The build ended with code 1.', 'failed'],
    ])
  })

  it('ignore old and canceled deployments, those on screen, and unknown projects', () => {
    hear(deployment('ready'))
    hear(deployment('building', { id: 'dpl_2' }))
    hear(deployment('canceled', { id: 'dpl_2' }))
    hear(deployment('building', { id: 'dpl_3' }))
    seen = ['/projects/shop/deployments/dpl_3']
    hear(deployment('ready', { id: 'dpl_3' }))
    hear(deployment('building', { id: 'dpl_4', project_id: 'prj_other' }))
    hear(deployment('ready', { id: 'dpl_4', project_id: 'prj_other' }))
    expect(notices).toEqual([])
  })

  it('report an app that crashes, not one that had crashed before', () => {
    const crashed = { event: 'project' as const, id: null, data: { project: { ...project, status: 'crashed' as const } } }
    hear(crashed)
    expect(notices.map(({ title, path }) => [title, path])).toEqual([['Harbour shop crashed', '/projects/shop/logs']])
    cache.setQueryData(queryKeys.project('shop'), crashed.data.project)
    hear(crashed)
    expect(notices).toHaveLength(1)
  })

  it('recheck domains that were seen pending', async () => {
    const name = (status: Domain['status']) =>
      ({ id: 'dom_1', hostname: 'boats.example.com', status, project_name: 'Harbour shop', last_check_error: 'No record was found.' }) as Domain
    cache.setQueryData(queryKeys.domains('shop'), { domains: [name('pending')] })
    domains = [name('verified')]
    hear({ event: 'project', id: null, data: { project } })
    await until(() => notices[0], { what: 'the notice' })
    expect(notices[0]).toMatchObject({ kind: 'done', title: 'boats.example.com is verified', path: '/projects/shop/domains' })
  })

  it('report a preview that was seen open and is closed, except while previews are on screen', async () => {
    const [tides, boats] = ['tides', 'boats'].map((branch) => ({ branch, deployment_id: `dpl_${branch}` }))
    cache.setQueryData(queryKeys.previews('shop'), [tides, boats])
    if (boats) previews = [boats]
    seen = ['/projects/shop/previews']
    hear({ event: 'project', id: null, data: { project } })
    expect(cache.getQueryData(queryKeys.previews('shop'))).toHaveLength(2)
    seen = []
    hear({ event: 'project', id: null, data: { project } })
    await until(() => notices[0], { what: 'the notice' })
    expect(notices.map(({ title, path }) => [title, path])).toEqual([['Preview of tides was closed', '/projects/shop/previews']])
    expect(cache.getQueryData(queryKeys.previews('shop'))).toEqual([boats])
  })

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
    const { add } = useNotifications.getState()
    const notice = (id: string, is_quiet = false): DashboardNotification => ({ id, kind: 'done', title: '', text: '', path: '/', at: '', is_quiet })
    add('still', notice('stands', true))
    add('still', notice('news'))
    add('still', notice('also stands', true))
    const board = useNotifications.getState().lists['still']
    expect([board?.unread, board?.notices.map(({ id }) => id)]).toEqual([1, ['news', 'also stands', 'stands']])
  })

  it('are stored per instance, up to fifty, and marked as read together', () => {
    const { add, markRead } = useNotifications.getState()
    const notice = (number: number): DashboardNotification => ({ id: `n${number}`, kind: 'done', title: '', text: '', path: '/', at: '' })
    for (let number = 0; number < maxNotifications + 9; number++) add('local', notice(number))
    add('local', notice(maxNotifications + 8))
    add('other', notice(1))
    const boards = () => useNotifications.getState().lists
    expect([boards()['local']?.notices.length, boards()['local']?.unread, boards()['local']?.notices[0]?.id]).toEqual([
      maxNotifications,
      maxNotifications,
      `n${maxNotifications + 8}`,
    ])
    markRead('local')
    expect([boards()['local']?.unread, boards()['other']?.unread]).toEqual([0, 1])
  })
})
