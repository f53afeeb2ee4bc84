import type { Page } from '@playwright/test'
import type { LogDrain } from '../../server/contract/log-drains.ts'
import type { Screen } from './screen.ts'

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const state: LogDrain['state'] = {
  status: 'delivering',
  delivered: 48_213,
  dropped: 0,
  last_success_at: ago(1),
  last_dropped_at: null,
  last_error: null,
}

const drain = (id: string, change: Partial<LogDrain>): LogDrain => ({
  id,
  kind: 'http',
  name: 'Log service',
  address: 'https://logs.example.com/…',
  format: 'ndjson',
  header_names: ['Authorization'],
  sources: ['app', 'build', 'request'],
  environments: 'all',
  is_enabled: true,
  created_at: ago(9000),
  state,
  ...change,
})
const drains = [
  drain('drn_1', {}),
  drain('drn_2', {
    kind: 'syslog',
    name: 'Syslog of the operations team',
    address: 'tls://syslog-ingest.eu-central-1.operations.example.com:6514',
    sources: ['app'],
    environments: 'production',
    header_names: [],
    state: {
      ...state,
      status: 'failing',
      delivered: 1204,
      dropped: 350,
      last_success_at: ago(190),
      last_dropped_at: ago(14),
      last_error: { at: ago(2), message: 'The connection was refused (ECONNREFUSED).' },
    },
  }),
  drain('drn_3', {
    kind: 'file',
    name: 'access',
    address: 'prj_01j9k3v7q8r2m5n4p6s7t8v9w0/access.log',
    sources: ['request'],
    header_names: [],
    is_enabled: false,
    state: { ...state, status: 'off', delivered: 0, last_success_at: null },
  }),
]

/** The seeded platform sends no logs. The address of the page itself ends with the same word. */
const withDrains = (page: Page) =>
  page.route('**/instance/projects/*/log-drains', (route) =>
    route.request().method() === 'GET' ? route.fulfill({ json: { log_drains: drains } }) : route.fallback(),
  )

const path = 'projects/harbour-shop/log-drains'

export const logDrainScreens: Screen[] = [
  { name: 'log-drains', path, before: withDrains, act: (page) => page.getByRole('list', { name: 'Log drains' }).waitFor() },
  { name: 'log-drains-none', path, act: (page) => page.getByRole('heading', { name: 'No log drains yet' }).waitFor() },
  {
    name: 'log-drains-add',
    path,
    before: withDrains,
    async act(page) {
      await page.getByRole('button', { name: 'Add log drain' }).click()
      await page.getByRole('dialog', { name: 'Add log drain' }).waitFor()
    },
  },
  {
    name: 'log-drains-edit',
    path,
    before: withDrains,
    act: (page) => page.getByRole('button', { name: 'Edit Log service' }).click(),
  },
]
