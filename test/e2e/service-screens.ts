import { expect, type Page } from '@playwright/test'
import { explainScaling, type ScalingDecision } from '../../server/contract/autoscaling.ts'
import type { DatabaseDump } from '../../server/contract/databases.ts'
import type { ManagedService } from '../../server/contract/managed-services.ts'
import type { MailCatcherStatus, MailMessage, MailMessageDetails } from '../../server/contract/mail.ts'
import { getPreset, type PresetName } from '../../server/contract/service-presets.ts'
import type { Service, ServiceReplica } from '../../server/contract/services.ts'
import type { Screen } from './screen.ts'

const catcher: MailCatcherStatus = { is_enabled: true, host: '127.0.0.1', port: 14_250, user: 'prj_01m84kvc1a6jds9qv8r0rb8g9k', unavailable: null }
const received_at = new Date(Date.now() - 120_000).toISOString()
const createMessage = (id: string, change: Partial<MailMessage> = {}): MailMessage => ({
  id,
  from: 'Harbour shop <shop@example.com>',
  to: ['ada@example.com'],
  subject: 'Your order 4711',
  size_bytes: 4_200,
  attachments: 0,
  received_at,
  ...change,
})
const messages = [
  createMessage('msg_3', { attachments: 2 }),
  createMessage('msg_2', { subject: 'Confirm your address', to: ['bob@example.com', 'somebody-with-a-long-address@subdomain.example.com'] }),
  createMessage('msg_1', { subject: '', from: '' }),
]
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
const details: MailMessageDetails = {
  ...createMessage('msg_3', { attachments: 2 }),
  text: 'Thank you for your order.\n\nTwo lanterns, one rope.\n',
  html: `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><body style="margin:16px;background:#fff;color:#111;font:14px/1.5 sans-serif"><h1>Thank you</h1><p>Two lanterns, one rope.</p><p><a href="https://example.com/orders/4711" target="_blank" rel="noopener noreferrer">View your order</a></p>`,
  is_shortened: false,
  headers: [
    { name: 'From', value: 'Harbour shop <shop@example.com>' },
    { name: 'Message-ID', value: '<0a1b2c3d-4e5f-6789-abcd-ef0123456789@shop.example.com>' },
  ],
  files: [
    { index: 0, name: 'invoice-4711.pdf', content_type: 'application/pdf', size_bytes: 48_213 },
    { index: 1, name: 'terms.txt', content_type: 'text/plain', size_bytes: 812 },
  ],
}

const service = (name: PresetName, change: Partial<ManagedService> = {}): ManagedService => {
  const { label, summary, image, port, variables } = getPreset(name)
  return {
    name,
    label,
    summary,
    image,
    variables: Object.keys(variables({ host: name, port, password: '', public_url: '' })),
    is_added: false,
    has_data: false,
    added_at: null,
    ...change,
  }
}

/** The seeded platform has neither containers nor an app that sends mail. */
async function withServices(page: Page): Promise<void> {
  const services = [service('redis', { is_added: true, added_at: received_at }), service('mariadb', { has_data: true }), service('s3')]
  await page.route('**/instance/projects/*/managed-services', (route) => route.fulfill({ json: { services, unavailable: null } }))
  await page.route('**/instance/projects/*/mail', (route) => route.fulfill({ json: { catcher, messages } }))
  await page.route('**/instance/projects/*/mail/messages/*', (route) => route.fulfill({ json: { message: details } }))
}

const dump = (id: string, change: Partial<DatabaseDump> = {}): DatabaseDump => ({
  id,
  project_slug: 'lighthouse',
  db_name: 'app',
  service: 'mariadb',
  name: null,
  reason: 'manual',
  bytes: 48_213,
  file: `${id}.sql.gz`,
  created_at: received_at,
  ...change,
})

async function withMariadb(page: Page): Promise<void> {
  const services = [service('redis'), service('mariadb', { is_added: true, added_at: received_at }), service('s3')]
  const dumps = [
    dump('dmp_01m84kvc1a6jds9qv8r0rb8g9k', { reason: 'restore', bytes: 12_048_213 }),
    dump('dmp_01m84kvc1a6jds9qv8r0rb8g9j', { name: 'Before the spring sale', created_at: '2026-11-02T08:44:00.000Z' }),
  ]
  await page.route('**/instance/projects/*/managed-services', (route) => route.fulfill({ json: { services, unavailable: null } }))
  await page.route(/\/database\/dumps\?service=mariadb$/, (route) => route.fulfill({ json: { dumps } }))
}

async function restoreDump(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for the dump of 2026-11-02T08:44:00.000Z' }).click()
  await page.getByRole('menuitem', { name: 'Restore this dump…' }).click()
}

const listed = (change: Partial<Service> & Pick<Service, 'name' | 'kind'>): Service => ({
  status: 'running',
  replicas: [],
  autoscaling: null,
  is_main: false,
  url: null,
  ports: [],
  health_check: null,
  internal_url: null,
  image: null,
  command: null,
  port: null,
  schedule: null,
  time_zone: null,
  next_run_at: null,
  last_run: null,
  volumes: [],
  depends_on: [],
  restarts: 0,
  last_exit_code: null,
  ...change,
})

/** Services with additional ports, one of which has no address, and with health checks. */
async function withPorts(page: Page): Promise<void> {
  const services = [
    listed({
      name: 'web',
      kind: 'web',
      is_main: true,
      url: 'http://lighthouse.localhost:4680',
      port: 3000,
      command: 'node server.js',
      ports: [
        { port: 9090, url: 'http://web-9090--lighthouse.localhost:4680', variable: 'PORT_9090' },
        { port: 9091, url: null, variable: 'PORT_9091' },
      ],
      health_check: { path: '/healthz', command: null, timeout_s: 120 },
    }),
    listed({
      name: 'tide-predictions-for-every-port',
      kind: 'image',
      image: 'registry.example.com/harbour/tide-predictions:2.14',
      url: 'http://tide-predictions-for-every-port--lighthouse.localhost:4680',
      ports: [{ port: 15_672, url: 'http://tide-predictions-for-every-por-3f2a9c1b--lighthouse.localhost:4680', variable: 'PORT_15672' }],
      volumes: [{ name: 'tides', path: '/var/lib/tides', is_read_only: false }],
      health_check: { path: null, command: 'tides ping', timeout_s: 90 },
    }),
    listed({ name: 'worker', kind: 'worker', command: 'node worker.js' }),
  ]
  await page.route(/\/instance\/projects\/[^/]+\/services(\?.*)?$/, (route) =>
    route.fulfill({ json: { services, release_command: null, deployment_id: 'dpl_01m84kvc1a6jds9qv8r0rb8g9k' } }),
  )
}

/** Four replicas by autoscaling, with the changes that led there. */
async function withAutoscaling(page: Page): Promise<void> {
  const range = { min: 1, max: 4, target_concurrency: 20 }
  const replica = (number: number, change: Partial<ServiceReplica> = {}): ServiceReplica => ({
    replica: number,
    status: 'running',
    restarts: 0,
    last_exit_code: null,
    in_flight: 14 + number,
    node: null,
    is_ejected: false,
    cpu_percent: 12,
    memory_mb: 84,
    ...change,
  })
  const services = [
    listed({
      name: 'web',
      kind: 'web',
      is_main: true,
      url: 'http://lighthouse.localhost:4680',
      autoscaling: range,
      replicas: [replica(1), replica(2), replica(3, { restarts: 2 }), replica(4, { status: 'starting', in_flight: null, memory_mb: null })],
    }),
  ]
  const decision = (time: string, change: Omit<ScalingDecision, 'time' | 'target_concurrency' | 'message'>): ScalingDecision => {
    const complete = { ...change, target_concurrency: range.target_concurrency }
    return { time, ...complete, message: explainScaling(complete) }
  }
  const decisions = [
    decision('2026-11-02T09:42:00.000Z', { from: 2, to: 4, reason: 'load_above_target', concurrency: 93.5, recommended: 5 }),
    decision('2026-11-02T09:41:30.000Z', { from: 1, to: 2, reason: 'load_above_target', concurrency: 31, recommended: 2 }),
    decision('2026-11-01T18:03:00.000Z', { from: 3, to: 1, reason: 'load_below_target', concurrency: 12, recommended: 1 }),
    decision('2026-11-01T16:00:00.000Z', { from: 2, to: 3, reason: 'minimum', concurrency: 0, recommended: 1 }),
  ]
  await page.route(/\/instance\/projects\/[^/]+\/services(\?.*)?$/, (route) =>
    route.fulfill({ json: { services, release_command: null, deployment_id: 'dpl_01m84kvc1a6jds9qv8r0rb8g9k' } }),
  )
  await page.route('**/instance/projects/*/scaling-decisions', (route) => route.fulfill({ json: { decisions } }))
}

async function withRegistries(page: Page): Promise<void> {
  const registries = [
    { host: 'ghcr.io', username: 'harbour-bot', created_at: received_at },
    { host: 'a-rather-long-registry-name.europe-west4.registry.example.com:5000', username: '_json_key', created_at: received_at },
  ]
  await page.route('**/instance/projects/*/registries', (route) => route.fulfill({ json: { registries, docker_login: ['docker.io', 'ghcr.io'] } }))
}

export const serviceScreens: Screen[] = [
  {
    name: 'settings-registries',
    path: 'projects/lighthouse/settings',
    before: withRegistries,
    act: (page) => page.getByRole('heading', { name: 'Registries' }).scrollIntoViewIfNeeded(),
  },
  {
    name: 'settings-registry-add',
    path: 'projects/lighthouse/settings',
    before: withRegistries,
    act: (page) => page.getByRole('button', { name: 'Add registry' }).click(),
  },
  {
    name: 'settings-registry-remove',
    path: 'projects/lighthouse/settings',
    before: withRegistries,
    act: (page) => page.getByRole('button', { name: 'Remove ghcr.io' }).click(),
  },
  { name: 'services-none', path: 'projects/lighthouse/services' },
  { name: 'services-ports', path: 'projects/lighthouse/services', before: withPorts },
  {
    name: 'settings-runtime',
    path: 'projects/lighthouse/settings',
    act: (page) => page.getByLabel('Additional ports').scrollIntoViewIfNeeded(),
  },
  { name: 'services-autoscaling', path: 'projects/lighthouse/services', before: withAutoscaling },
  { name: 'logs-replicas', path: 'projects/lighthouse/logs', before: withAutoscaling },
  {
    name: 'settings-autoscaling',
    path: 'projects/lighthouse/settings',
    async act(page) {
      await page.getByRole('switch', { name: 'Autoscaling' }).click()
      await page.getByLabel('Target concurrency').scrollIntoViewIfNeeded()
    },
  },
  { name: 'services-managed', path: 'projects/lighthouse/services', before: withServices },
  {
    name: 'services-managed-remove',
    path: 'projects/lighthouse/services',
    before: withServices,
    act: (page) => page.getByRole('button', { name: 'Remove Redis' }).click(),
  },
  {
    name: 'services-dumps',
    path: 'projects/lighthouse/services',
    before: withMariadb,
    act: (page) => page.getByRole('heading', { name: 'Dumps of MariaDB' }).scrollIntoViewIfNeeded(),
  },
  {
    name: 'services-dump-create',
    path: 'projects/lighthouse/services',
    before: withMariadb,
    async act(page) {
      await page.getByRole('button', { name: 'Create dump…' }).click()
      await expect(page.getByRole('dialog', { name: 'Create dump' })).toBeVisible()
    },
  },
  { name: 'services-dump-restore', path: 'projects/lighthouse/services', before: withMariadb, act: restoreDump },
  {
    name: 'services-dump-restore-failed',
    path: 'projects/lighthouse/services',
    async before(page) {
      await withMariadb(page)
      const message = "Table 'app.guests' does not exist at line 12. The database was not changed."
      await page.route('**/database/dumps/*/restore', (route) =>
        route.fulfill({ status: 400, json: { error: 'restore_failed', message, request_id: 'req_1' } }),
      )
    },
    async act(page) {
      await restoreDump(page)
      await page.getByRole('dialog').getByRole('textbox').fill('lighthouse')
      await page.getByRole('button', { name: 'Restore MariaDB' }).click()
      await page.getByRole('dialog').getByRole('alert').waitFor()
    },
  },
  {
    name: 'services-dump-import',
    path: 'projects/lighthouse/services',
    before: withMariadb,
    act: (page) => page.getByRole('button', { name: 'Import SQL…' }).click(),
  },
  { name: 'mail-off', path: 'projects/lighthouse/mail' },
  { name: 'mail', path: 'projects/lighthouse/mail', before: withServices },
  { name: 'mail-message', path: 'projects/lighthouse/mail?message=msg_3', before: withServices },
  {
    name: 'mail-headers',
    path: 'projects/lighthouse/mail?message=msg_3',
    before: withServices,
    act: (page) => page.getByRole('radio', { name: 'Headers' }).click(),
  },
]
