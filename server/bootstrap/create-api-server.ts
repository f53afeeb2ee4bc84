import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { BillingService } from '../billing/billing-service.ts'
import { version } from '../contract/index.ts'
import type { RuntimeStatus } from '../contract/instance.ts'
import type { Authenticator } from '../features/authenticator.ts'
import { createBillingWebhook } from '../features/billing.ts'
import type { InstanceIdentity } from '../features/bootstrap-instance.ts'
import { createHandlers, createResourceAuthorizer, type FeatureDeps } from '../features/index.ts'
import { createRegistration } from '../features/registration.ts'
import type { IdempotencyStore } from '../features/idempotency-store.ts'
import { createPurgeTokenLookup, type CachePurger } from '../features/cache-purge.ts'
import type { SettingsService } from '../features/settings.ts'
import { createRemoteForwarder } from '../features/remotes.ts'
import { createPasswordSignIn } from '../features/password-sign-in.ts'
import { createApiServer, type ApiServerOptions } from '../api/server.ts'
import type { LanAccess } from '../network/lan.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { verifyPassword } from '../lib/password.ts'
import type { PlatformOptions } from '../options.ts'
import type { PlatformHost } from '../platform.ts'
import type { Store } from '../store/store.ts'

interface PlatformApiServerOptions {
  options: Pick<PlatformOptions, 'dashboard_dir' | 'hostnames' | 'stripe'>
  host: PlatformHost
  featureDeps: FeatureDeps
  authenticator: Authenticator
  identity: InstanceIdentity
  idempotencyStore: IdempotencyStore
  billing: BillingService
  purge: CachePurger
  settings: SettingsService
  runtime: RuntimeStatus
  lan(): LanAccess | undefined
  store: Store
  clock: Clock
  log: Log
}

/** Creates the API server with all its handlers. It does not listen yet. */
export function createPlatformApiServer({
  options,
  host,
  featureDeps,
  authenticator,
  identity,
  billing,
  purge,
  settings,
  runtime,
  store,
  clock,
  log,
  ...parts
}: PlatformApiServerOptions) {
  const startedAt_ms = clock.monotonic()
  const eventLoopDelay = monitorEventLoopDelay({ resolution: 10 })
  eventLoopDelay.enable()
  const signInByPassword = createPasswordSignIn({
    db: store.db,
    clock,
    compare: (password, stored, from) => verifyPassword(password, stored, from, host.password_cost),
  })
  const apiOptions: ApiServerOptions = {
    handlers: createHandlers(featureDeps),
    resolveResource: createResourceAuthorizer(featureDeps),
    callRemote: createRemoteForwarder(featureDeps),
    idempotencyStore: parts.idempotencyStore,
    authenticate: authenticator,
    isCredentialActive: authenticator.isCredentialActive,
    redeemSignInCode: authenticator.redeemSignInCode,
    findSignInCode: authenticator.findSignInCode,
    signInByPassword,
    joining: createRegistration(featureDeps, signInByPassword, authenticator, host.password_cost),
    owner_email: identity.owner.email,
    cookie_name: identity.cookie_name,
    dashboard_dir: options.dashboard_dir,
    has_card_form: options.stripe !== null,
    billingWebhook: createBillingWebhook(billing),
    purgeWebhook: { findProject: createPurgeTokenLookup(store.db), purge: (projectId, what) => purge(projectId, what, 'webhook') },
    rateLimits: () => {
      const { rate_limit_authenticated, rate_limit_anonymous } = settings.current()
      return { window_ms: 60_000, authenticated: rate_limit_authenticated, anonymous: rate_limit_anonymous }
    },
    hosts: () => options.hostnames,
    networkHosts: () => parts.lan()?.hosts() ?? [],
    health: async () => ({
      status: 'ok' as const,
      version,
      runtime,
      uptime_s: Math.round((clock.monotonic() - startedAt_ms) / 1000),
      checks: {
        database: store.db.readSync((tx) => tx.sqlFirst('SELECT 1 AS one')) ? 'ok' : 'failed',
        edge: 'ok',
        ...(store.recovery ? { recovered_from_backup: store.recovery.copied_at } : {}),
        event_loop_p99_ms: (eventLoopDelay.percentile(99) / 1e6).toFixed(1),
        event_loop_longest_ms: (eventLoopDelay.max / 1e6).toFixed(1),
      },
    }),
    clock,
    log,
  }
  const apiServer = createApiServer(host.api?.(apiOptions) ?? apiOptions)
  return {
    ...apiServer,
    async close(closeOptions: Parameters<typeof apiServer.close>[0]) {
      await apiServer.close(closeOptions)
      eventLoopDelay.disable()
    },
  }
}
