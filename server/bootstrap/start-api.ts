import { monitorEventLoopDelay } from 'node:perf_hooks'
import { version } from '../contract/index.ts'
import type { RuntimeStatus } from '../contract/instance.ts'
import { createActivityRecorder } from '../features/activity-recorder.ts'
import type { Authenticator } from '../features/authenticator.ts'
import { createBillingWebhook } from '../features/billing.ts'
import { createDeployHookRunner } from '../features/deploy-hooks.ts'
import { createHandlers, createResourceResolver, type FeatureDeps } from '../features/index.ts'
import { createPrometheusExporter } from '../features/prometheus.ts'
import { createRegistration } from '../features/registration.ts'
import type { IdempotencyStore } from '../features/idempotency-store.ts'
import { createPurgeTokenLookup } from '../features/cache-purge.ts'
import { createRemoteForwarder } from '../features/remotes.ts'
import { createPasswordSignIn } from '../features/password-sign-in.ts'
import type { Lease } from '../maintenance/standby/lease.ts'
import { createApiServer, type ApiServerOptions } from '../api/server.ts'
import { describeListenError } from '../lib/listen-error.ts'
import { verifyPassword } from '../lib/password.ts'
import { formatHostForUrl } from '../platform.ts'
import { assertWritable } from './start-lease.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformLan } from './create-lan.ts'
import { canRead } from '../store/store.ts'

interface ApiParts {
  features: FeatureDeps
  authenticator: Authenticator
  idempotencyStore: IdempotencyStore
  lan: PlatformLan
  runtime: RuntimeStatus
  lease: Lease | undefined
}

/** Starts the API server with all its handlers, on the wanted port or, where it may change, on the next free one. */
export async function startApi(context: PlatformContext, { features, authenticator, idempotencyStore, lan, runtime, lease }: ApiParts) {
  const { options, host, store, settings, identity, urls, clock, log, onClose } = context
  const startedAt_ms = clock.monotonic()
  const eventLoopDelay = monitorEventLoopDelay({ resolution: 10 })
  eventLoopDelay.enable()
  const signInByPassword = createPasswordSignIn({
    db: store.db,
    clock,
    compare: (password, stored, from) => verifyPassword(password, stored, from, host.password_cost),
  })
  const deployByHook = createDeployHookRunner(features)
  const runDeployHook: typeof deployByHook = async (token) => {
    assertWritable(lease)
    return deployByHook(token)
  }
  const purgeByWebhook: ApiServerOptions['purgeWebhook']['purge'] = async (projectId, what) => {
    assertWritable(lease)
    return features.purge(projectId, what, 'webhook')
  }
  const apiOptions: ApiServerOptions = {
    handlers: createHandlers(features),
    assertWritable: () => assertWritable(lease),
    beginChange: createActivityRecorder({ db: store.db, clock, log }),
    resolveResource: createResourceResolver(store.db),
    callRemote: createRemoteForwarder(features),
    claimCommand: (ticket) => features.commandTickets.claim(ticket),
    idempotencyStore,
    authenticate: authenticator,
    isCredentialActive: authenticator.isCredentialActive,
    redeemSignInCode: authenticator.redeemSignInCode,
    findSignInCode: authenticator.findSignInCode,
    signInByPassword,
    registration: createRegistration(features, signInByPassword, authenticator, host.password_cost),
    owner_email: identity.owner.email,
    cookie_name: identity.cookie_name,
    dashboard_dir: options.dashboard_dir,
    has_card_form: options.stripe !== null,
    billingWebhook: createBillingWebhook(features.billing),
    purgeWebhook: { findProject: createPurgeTokenLookup(store.db), purge: purgeByWebhook },
    runDeployHook,
    scrapeMetrics: createPrometheusExporter(features),
    // Loaded with the first message, because few instances have an agent.
    answerMcp: async (message) => (await import('../mcp/http-endpoint.ts')).answerMcpRequest(urls.api, message),
    rateLimits: () => {
      const { rate_limit_authenticated, rate_limit_anonymous } = settings.current()
      return { window_ms: 60_000, authenticated: rate_limit_authenticated, anonymous: rate_limit_anonymous }
    },
    hosts: () => options.hostnames,
    networkHosts: lan.hosts,
    health: async () => ({
      status: 'ok' as const,
      version,
      runtime,
      uptime_s: Math.round((clock.monotonic() - startedAt_ms) / 1000),
      checks: {
        database: store.db.readSync(canRead) ? 'ok' : 'failed',
        edge: 'ok',
        ...(store.recovery ? { recovered_from_backup: store.recovery.copied_at } : {}),
        event_loop_p99_ms: (eventLoopDelay.percentile(99) / 1e6).toFixed(1),
        event_loop_longest_ms: (eventLoopDelay.max / 1e6).toFixed(1),
      },
    }),
    clock,
    log,
  }
  const server = createApiServer(host.api?.(apiOptions) ?? apiOptions)
  onClose(async () => {
    await server.close({ grace_ms: 2_000 })
    eventLoopDelay.disable()
  })
  const port = await server.listen({ host: options.host, port: options.port, fallback: options.port_may_change }).catch((cause: unknown) => {
    const reason = describeListenError(cause)
    throw reason === undefined ? cause : new Error(`Port ${options.port} is ${reason}. Choose another with --port, or 0 for any.`, { cause })
  })
  urls.api_fell_back = options.port !== 0 && port !== options.port
  urls.api = `http://${formatHostForUrl(options.host)}:${port}`
  urls.dashboard = `${urls.api}/app/`
  return { server, port }
}
