import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { cronRunBadge, serviceBadge } from '../../../renderer/features/services/service-badge.ts'
import { ServiceRow } from '../../../renderer/features/services/service-row.tsx'
import { useUi } from '../../../renderer/stores/ui.ts'
import { cronRun, service, type Service, type ServiceReplica } from '../../../server/contract/services.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, renderPart } from '../../support/dashboard.tsx'

type Answers = NonNullable<PartOptions['answers']>
const createService = (own: Partial<Service> = {}) =>
  createExample(service, {
    name: 'worker',
    kind: 'worker',
    status: 'running',
    is_main: false,
    url: null,
    internal_url: null,
    image: null,
    command: null,
    ports: [],
    health_check: null,
    schedule: null,
    time_zone: null,
    next_run_at: null,
    volumes: [],
    depends_on: [],
    restarts: 0,
    last_exit_code: null,
    replicas: [],
    autoscaling: null,
    ...own,
  })
const replica: ServiceReplica = {
  replica: 1,
  status: 'running',
  restarts: 0,
  last_exit_code: null,
  in_flight: null,
  node: null,
  is_ejected: false,
  cpu_percent: null,
  memory_mb: null,
}
function openRow(own: Partial<Service> = {}, { branch = null, answers = {} }: { branch?: string | null; answers?: Answers } = {}) {
  return renderPart(<ServiceRow slug="my-shop" branch={branch} service={createService(own)} />, { answers })
}
const toasts = () => useUi.getState().toasts.map(({ kind, text }) => `${kind}: ${text}`)
const links = '[Log of worker] [Terminal of worker]'

afterEach(() => vi.restoreAllMocks())

test.each<[string, Partial<Service>, string]>([
  ['a worker', { command: 'node worker.js' }, `workerWorker node worker.js Running Restart ${links}`],
  [
    'the main service',
    { kind: 'web', is_main: true, url: 'https://my-shop.example.com/', internal_url: 'http://web:3000' },
    `workerWeb my-shop.example.com [Copy URL of worker] Running ${links}`,
  ],
  [
    'a service with an internal address, an image and a health check',
    {
      kind: 'image',
      internal_url: 'http://redis:6379',
      image: 'redis:8',
      command: 'redis-server',
      health_check: { path: null, command: 'redis-cli ping', timeout_s: 30 },
      volumes: [
        { name: 'data', path: '/data', is_read_only: false },
        { name: 'conf', path: '/etc', is_read_only: true },
      ],
      depends_on: ['db', 'mail'],
    },
    `workerImage http://redis:6379redis:8 · data at /data · conf at /etc · after db, mail · healthy within 30 s Running Restart ${links}`,
  ],
  [
    'additional ports',
    {
      ports: [
        { port: 9090, url: 'http://web-9090--my-shop.localhost', variable: 'PORT_9090' },
        { port: 9091, url: null, variable: 'PORT_9091' },
      ],
    },
    `workerWorker web-9090--my-shop.localhost [Copy URL of port 9090 of worker] Port 9091: another service or a preview has its address. Running Restart ${links}`,
  ],
  ['one restart', { restarts: 1, last_exit_code: 137 }, `workerWorker Running1 restart, last exit code 137 Restart ${links}`],
  ['several restarts', { restarts: 2, status: 'crashed' }, `workerWorker Crashed2 restarts, last exit code unknown Restart ${links}`],
  [
    'a cron job',
    { kind: 'cron', schedule: '0 3 * * *', status: 'scheduled', time_zone: 'Europe/Berlin' },
    `workerCron 0 3 * * * (Europe/Berlin) Scheduled Run now ${links}`,
  ],
  [
    'a stopped cron job',
    { kind: 'cron', schedule: '0 3 * * *', status: 'stopped', next_run_at: '2026-01-31T09:00:00.000Z' },
    `workerCron 0 3 * * * (UTC) · only in production Stopped Run now ${links}`,
  ],
  ['a service that is no cron job but has a schedule', { schedule: '0 3 * * *', status: 'stopped' }, `workerWorker Stopped Restart ${links}`],
  [
    'replicas',
    {
      replicas: [
        replica,
        { ...replica, replica: 2, node: 'harbour-2', in_flight: 1, memory_mb: 120.4, restarts: 1, is_ejected: true, status: 'crashed' },
        { ...replica, replica: 3, in_flight: 0, restarts: 2 },
      ],
    },
    `workerWorker [Replicas of worker] RunningReplica 1 CrashedReplica 2 · on harbour-2 · 1 open request · 120 MB · 1 restart · failing, gets no requests RunningReplica 3 · 0 open requests · 2 restarts Running Restart ${links}`,
  ],
])('%s', (_, own, expected) => expect(openRow(own).text()).toBe(expected))

test('the next run of a cron job', () => {
  const { text } = openRow({ kind: 'cron', schedule: '0 3 * * *', status: 'scheduled', next_run_at: '2026-01-31T09:00:00.000Z' })
  expect(text()).toContain('0 3 * * * (UTC) · next Jan 31, 2026, ')
})

test.each<[string, Partial<Service>, string | null, string]>([
  ['a service', {}, null, '?service=worker'],
  ['a service of a preview', {}, 'a b', '?service=worker&branch=a%20b'],
  ['the main service', { is_main: true }, null, '?'],
  ['the main service of a preview', { is_main: true }, 'docs', '?branch=docs'],
])('the log and the terminal of %s', (_, own, branch, search) => {
  openRow(own, { branch })
  expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
    `/projects/my-shop/logs${search}`,
    `/projects/my-shop/terminal${search}`,
  ])
})

test.each<[string, Partial<Service>, string | null, string[]]>([
  ['the main service', { is_main: true, kind: 'cron' }, null, []],
  ['a worker of a preview', {}, 'docs', ['Restart']],
  ['a cron job', { kind: 'cron' }, null, ['Run now']],
  ['a cron job of a preview', { kind: 'cron' }, 'docs', []],
])('the actions of %s', (_, own, branch, names) => {
  openRow(own, { branch })
  expect(screen.queryAllByRole('button').map(({ textContent }) => textContent)).toEqual(names)
})

test.each([
  [null, '/instance/projects/my-shop/services/worker/restart'],
  ['docs', '/instance/projects/my-shop/services/worker/restart?branch=docs'],
])('a service of the branch %s is restarted', async (branch, address) => {
  const { sent, user } = openRow({}, { branch, answers: { restartService: { ok: true } } })
  const send = vi.fn(globalThis.fetch)
  vi.stubGlobal('fetch', send)
  await user.click(screen.getByRole('button', { name: 'Restart' }))
  expect(sent).toEqual([{ operation: 'restartService', params: { slug: 'my-shop', name: 'worker' } }])
  expect(send.mock.lastCall?.[0]).toBe(address)
  await expect.poll(toasts).toEqual(['done: Restarted worker'])
})

test.each<[Service['status'], boolean]>([
  ['asleep', true],
  ['running', false],
])('whether a service that is %s cannot be restarted: %s', (status, isDisabled) => {
  openRow({ status })
  expect(screen.getByRole('button', { name: 'Restart' })).toHaveProperty('disabled', isDisabled)
})

test.each([
  ['running', 'done: Started worker'],
  ['skipped', 'done: worker is still running'],
] as const)('a cron job runs now and is %s', async (status, toast) => {
  const { sent, user } = openRow({ kind: 'cron' }, { answers: { runCronService: { run: createExample(cronRun, { status }) } } })
  await user.click(screen.getByRole('button', { name: 'Run now' }))
  expect(sent).toEqual([{ operation: 'runCronService', params: { slug: 'my-shop', name: 'worker' } }])
  await expect.poll(toasts).toEqual([toast])
})

test('badges of services and of runs', () => {
  expect(serviceBadge('asleep')).toEqual({ label: 'Asleep', shape: 'crescent', tone: 'cold' })
  expect(cronRunBadge('interrupted')).toEqual({ label: 'Interrupted', shape: 'diamond', tone: 'fail' })
})
