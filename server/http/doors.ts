import type { IncomingHttpHeaders } from 'node:http'
import { version } from '../contract/index.ts'
import type { RuntimeStatus } from '../contract/instance.ts'
import { billingHookDoor } from './billing-hook.ts'
import type { BillingHook } from './billing-hook.ts'
import { createDashboard } from './dashboard.ts'
import { docsPage } from './docs.ts'
import { openApiDocument } from './openapi.ts'
import { type Joining, peopleDoors } from './people-doors.ts'
import { purgeHookDoor } from './purge-hook.ts'
import type { PurgeHook } from './purge-hook.ts'
import { json, redirect, text } from './respond.ts'
import type { Answer } from './respond.ts'
import { openSignIn, signIn } from './sign-in.ts'
import type { SignInOptions } from './sign-in.ts'

/** What /healthz tells. `checks` are short words per part, such as `{database: 'ok'}`. */
export interface Health {
  status: 'ok' | 'degraded'
  version: string
  runtime: RuntimeStatus | null
  uptime_s: number
  checks: Record<string, string>
}

export interface DoorRequest {
  query: URLSearchParams
  params: Record<string, string>
  headers: IncomingHttpHeaders
  /** All values of a header as they came. */
  header(name: string): string[]
  body: Buffer
  is_head: boolean
  accepts_html: boolean
  /** A page or its script asks, in a browser that says so (Fetch Metadata). */
  is_browser: boolean
  /** It came from this machine itself and not over the network. */
  is_local: boolean
}

/** What is no operation of the record, and open to everybody. */
export interface Door {
  /** GET when absent. */
  method?: 'POST'
  path: string
  /** Whether a visit counts towards the rate limit; of whom, or always of the peer's address. */
  is_counted: boolean | 'by_address'
  answer(request: DoorRequest): Promise<Answer>
}

export interface DoorOptions extends SignInOptions {
  health(): Promise<Health>
  dashboard_dir: string | null
  /** Whether there is a payment processor, whose card form one page of the dashboard shows. */
  has_card_form: boolean
  purgeHook: PurgeHook
  billingHook: BillingHook
  joining: Joining
}

export function createDoors(options: DoorOptions): Door[] {
  const dashboard = createDashboard(options.dashboard_dir, options)
  // Made when first asked for: they need a walk over every schema.
  let description: string | undefined
  let docs: Answer | undefined

  return [
    { path: '/healthz', is_counted: false, answer: async () => json(200, await options.health()) },
    {
      path: '/openapi.json',
      is_counted: false,
      answer: async () =>
        text(200, 'application/json; charset=utf-8', (description ??= JSON.stringify(openApiDocument())), { 'cache-control': 'no-cache' }),
    },
    { path: '/docs', is_counted: false, answer: async () => (docs ??= docsPage()) },
    { path: '/sign-in', is_counted: true, answer: (request) => openSignIn(request, options) },
    { method: 'POST', path: '/sign-in', is_counted: 'by_address', answer: (request) => signIn(request, options) },
    ...peopleDoors(options),
    purgeHookDoor(options.purgeHook),
    billingHookDoor(options.billingHook),
    {
      path: '/app/**',
      is_counted: false,
      answer: ({ params, headers }) => dashboard(params.path ?? '/app/', headers['accept-encoding'] ?? ''),
    },
    { path: '/app', is_counted: false, answer: async () => redirect(302, '/app/') },
    { path: '/', is_counted: false, answer: async ({ accepts_html }) => (accepts_html ? redirect(302, '/app/') : json(200, directory)) },
  ]
}

const directory = { name: 'Homeport', version, api: '/v1', docs: '/docs', openapi: '/openapi.json', health: '/healthz', dashboard: '/app/' }
