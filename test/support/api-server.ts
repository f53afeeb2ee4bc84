import type { DomainEvent } from '../../server/contract/domain-events.ts'
import { createEventBus } from '../../server/lib/event-bus.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Project } from '../../server/contract/projects.ts'
import { createSession } from '../../server/features/authenticator.ts'
import type { ApiServerOptions } from '../../server/api/server.ts'
import { startPlatform } from '../../server/index.ts'
import type { Clock } from '../../server/lib/clock.ts'
import { createLog } from '../../server/lib/log.ts'
import { readOptions } from '../../server/options.ts'
import type { Platform } from '../../server/platform.ts'
import { openSqlite } from '../../server/store/sqlite.ts'
import { createLogSearch } from '../../server/store/log-search.ts'
import { createDrainProgressStore } from '../../server/store/drain-progress.ts'
import { createLogStore } from '../../server/store/log-store.ts'
import { createRequestStore } from '../../server/store/request-store.ts'
import { createTraceStore } from '../../server/store/trace-store.ts'
import { createMetricsStore } from '../../server/store/metrics-store.ts'
import { createUsageStore } from '../../server/store/usage-store.ts'
import { migrate } from '../../server/store/migrate.ts'
import { logMigrations, metricsMigrations, migrations, requestMigrations, traceMigrations } from '../../server/store/migrations/index.ts'
import type { Store } from '../../server/store/store.ts'
import { host as fastPasswordHost } from './fast-password-host.ts'
import { createTestClock, type TestClock } from './test-clock.ts'

/** A user with an account, a token and the secret of a browser session. */
export interface Person {
  email: string
  user_id: string
  account_id: string
  token: string
  session: string
}

/** The API of a real platform on a store in memory, in the test's process, with replaceable dependencies. */
export interface ApiServer {
  url: string
  port: number
  clock: TestClock
  store: Store
  platform: Platform
  data_dir: string
  cookie_name: string
  owner: Person
  /** A user with a separate account and no access to the owner's. */
  stranger: Person
  /** Lines of the platform's log. */
  log: Record<string, unknown>[]
  /** Creates a one-time code for the owner. */
  newSignInCode(): Promise<string>
  createProject(slug: string, options?: { owner?: Person; repo_url?: string }): Promise<Project>
  /** Sends a request without following redirects. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Lets requests finish for as long as a stopping platform does, by the test clock. */
  close(): Promise<void>
}

export interface ApiServerSettings {
  host?: string
  port?: number
  /** Whether the next free port is used if the port is taken. */
  port_may_move?: boolean
  /** Host names that the API answers to in addition to localhost. */
  names?: string[]
  dashboard_dir?: string
  rate_limits?: ApiServerOptions['rateLimits']
  /** Receives the text of every SQL statement. */
  onStatement?: (sql: string) => void
  /** Parts of the API server to replace. */
  overrides?: (options: ApiServerOptions, store: Store) => Partial<ApiServerOptions>
}

const startTime = '2026-01-31T12:00:00.000Z'
const unlimitedRates = () => ({ authenticated: 1_000_000, anonymous: 1_000_000 })

export async function startApiServer(settings: ApiServerSettings = {}): Promise<ApiServer> {
  const data_dir = mkdtempSync(join(tmpdir(), 'homeport-api-'))
  const clock = createTestClock({ frozen_at: startTime })
  const store = await openMemoryStore(clock, settings.onStatement)
  const log: Record<string, unknown>[] = []
  let cookie_name = ''
  const options = readOptions({ data: data_dir, port: String(settings.port ?? 0), 'edge-port': '0', runtime: 'process' })
  const platform = await startPlatform(
    {
      ...options,
      chromium: 'off',
      registrar: { name: 'local' },
      host: settings.host ?? '127.0.0.1',
      port_may_change: settings.port_may_move ?? false,
      hostnames: settings.names ?? [],
      dashboard_dir: settings.dashboard_dir ?? null,
      // A worker is a process of its own, which takes longer to start than all the rest.
      edge_workers: 0,
    },
    {
      ...fastPasswordHost,
      store,
      clock,
      log: createLog((line) => log.push(JSON.parse(line) as Record<string, unknown>)),
      names: { hosts_path: join(data_dir, 'hosts'), root: join(data_dir, 'system'), home: join(data_dir, 'home') },
      api(defaults) {
        ;({ cookie_name } = defaults)
        const limited = { ...defaults, rateLimits: settings.rate_limits ?? unlimitedRates }
        return { ...limited, ...settings.overrides?.(limited, store) }
      },
    },
  ).catch((error: unknown) => {
    rmSync(data_dir, { recursive: true, force: true })
    throw error
  })
  const url = `http://127.0.0.1:${new URL(platform.api_url).port}`
  const send = (path: string, init: RequestInit = {}) => fetch(url + path, { redirect: 'manual', ...init })

  async function call<Body>(token: string, method: string, path: string, body?: object): Promise<Body> {
    const init: RequestInit = { method, headers: { ...bearer(token), 'content-type': 'application/json' } }
    if (body) init.body = JSON.stringify(body)
    const response = await send(path, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text) as Body
  }
  const person = async (token: string): Promise<Person> => {
    const { user } = await call<{ user: { id: string; account_id: string; email: string } }>(token, 'GET', '/instance/session')
    const { secret } = await store.db.write((tx) => createSession(tx, clock, user.id))
    return { token, session: secret, user_id: user.id, account_id: user.account_id, email: user.email }
  }

  const { token } = platform.instance
  const stranger = await call<{ token: string }>(token, 'POST', '/instance/users', { email: 'stranger@example.com', plan: 'enterprise' })
  const owner = await person(token)
  return {
    url,
    port: Number(new URL(url).port),
    clock,
    store,
    platform,
    data_dir,
    cookie_name,
    owner,
    stranger: await person(stranger.token),
    log,
    newSignInCode: async () => new URL(await platform.signInUrl()).searchParams.get('code') ?? '',
    async createProject(slug, { owner: projectOwner = owner, repo_url } = {}) {
      const body = { name: slug, slug, ...(repo_url === undefined ? {} : { repo_url }) }
      return (await call<{ project: Project }>(projectOwner.token, 'POST', '/v1/projects', body)).project
    },
    fetch: send,
    async close() {
      const stopped = platform.stop()
      await clock.advance(10_000)
      await stopped
      rmSync(data_dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A handler that fails when it creates a project with this name. */
export const failOnProjectName =
  (name: string) =>
  ({ handlers }: ApiServerOptions): Partial<ApiServerOptions> => ({
    handlers: {
      ...handlers,
      createProject(context, input) {
        if (input.body.name === name) throw new TypeError('an inner detail with /secret/path')
        return handlers.createProject(context, input)
      },
    },
  })

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The five databases of a platform, in memory. */
export async function openMemoryStore(clock: Clock, onStatement?: (sql: string) => void): Promise<Store> {
  const events = createEventBus<DomainEvent>()
  const open = () => openSqlite({ path: ':memory:', durable: false, clock, onEvent: events.publish, ...(onStatement && { onStatement }) })
  const [db, logs, metrics, requests, traces] = [open(), open(), open(), open(), open()]
  await migrate(db, migrations)
  await migrate(logs, logMigrations)
  await migrate(metrics, metricsMigrations)
  await migrate(requests, requestMigrations)
  await migrate(traces, traceMigrations)
  return {
    db,
    logs: createLogStore(logs),
    logSearch: createLogSearch(logs),
    drains: createDrainProgressStore(logs),
    metrics: createMetricsStore(metrics),
    usage: createUsageStore(metrics),
    requests: createRequestStore(requests),
    traces: createTraceStore(traces),
    events,
    recovery: undefined,
    async close() {
      await Promise.all([db.close(), logs.close(), metrics.close(), requests.close(), traces.close()])
    },
  }
}
