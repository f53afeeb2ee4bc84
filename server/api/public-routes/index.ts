import { createHomeportSchema } from '../../contract/homeport-yaml.ts'
import { version } from '../../contract/index.ts'
import type { RuntimeStatus } from '../../contract/instance.ts'
import { billingWebhookRoute } from './billing-webhook.ts'
import type { BillingWebhook } from './billing-webhook.ts'
import { createDashboard } from './dashboard.ts'
import { type DeployHookRunner, deployHookRoutes } from './deploy-hook.ts'
import { docsPage } from '../openapi/docs-page.ts'
import { openApiDocument } from '../openapi/document.ts'
import { type RegistrationService, accountPages } from './account-pages.ts'
import { type McpEndpoint, mcpRoute } from './mcp.ts'
import { type MetricsScraper, prometheusRoute } from './prometheus.ts'
import { purgeWebhookRoute } from './purge-webhook.ts'
import type { PurgeWebhook } from './purge-webhook.ts'
import { jsonResponse, redirectResponse, textResponse } from '../response.ts'
import type { ApiResponse } from '../response.ts'
import { showSignIn, submitSignIn } from './sign-in.ts'
import type { SignInOptions } from './sign-in.ts'
import type { PublicRoute } from './public-route.ts'

/** The body of /healthz. `checks` has a short status per part, such as `{database: 'ok'}`. */
export interface Health {
  status: 'ok' | 'degraded'
  version: string
  runtime: RuntimeStatus | null
  uptime_s: number
  checks: Record<string, string>
}

export interface PublicRouteOptions extends SignInOptions {
  health(): Promise<Health>
  dashboard_dir: string | null
  /** Whether a payment processor is configured, whose card form the dashboard shows. */
  has_card_form: boolean
  purgeWebhook: PurgeWebhook
  billingWebhook: BillingWebhook
  runDeployHook: DeployHookRunner
  answerMcp: McpEndpoint
  scrapeMetrics: MetricsScraper
  registration: RegistrationService
}

export function createPublicRoutes(options: PublicRouteOptions): PublicRoute[] {
  const dashboard = createDashboard(options.dashboard_dir, options)
  // Created on first use, because they visit every schema.
  let description: string | undefined
  let docs: ApiResponse | undefined
  let fileSchema: string | undefined

  return [
    { path: '/healthz', rate_limit: false, handle: async () => jsonResponse(200, await options.health()) },
    {
      path: '/openapi.json',
      rate_limit: false,
      handle: async () =>
        textResponse(200, 'application/json; charset=utf-8', (description ??= JSON.stringify(openApiDocument())), { 'cache-control': 'no-cache' }),
    },
    {
      path: '/schemas/homeport.json',
      rate_limit: false,
      handle: async () =>
        textResponse(200, 'application/schema+json; charset=utf-8', (fileSchema ??= JSON.stringify(createHomeportSchema())), {
          'cache-control': 'no-cache',
        }),
    },
    { path: '/docs', rate_limit: false, handle: async () => (docs ??= docsPage()) },
    { path: '/sign-in', rate_limit: true, handle: (request) => showSignIn(request, options) },
    { method: 'POST', path: '/sign-in', rate_limit: 'by_address', handle: (request) => submitSignIn(request, options) },
    ...accountPages(options),
    purgeWebhookRoute(options.purgeWebhook),
    billingWebhookRoute(options.billingWebhook),
    ...deployHookRoutes(options.runDeployHook),
    mcpRoute(options.answerMcp),
    prometheusRoute(options.scrapeMetrics),
    {
      path: '/app/**',
      rate_limit: false,
      handle: ({ params, headers }) => dashboard(params.path ?? '/app/', headers['accept-encoding'] ?? ''),
    },
    { path: '/app', rate_limit: false, handle: async () => redirectResponse(302, '/app/') },
    {
      path: '/',
      rate_limit: false,
      handle: async ({ accepts_html }) => (accepts_html ? redirectResponse(302, '/app/') : jsonResponse(200, apiIndex)),
    },
  ]
}

const apiIndex = { name: 'Homeport', version, api: '/v1', docs: '/docs', openapi: '/openapi.json', health: '/healthz', dashboard: '/app/' }
