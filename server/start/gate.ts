import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Billing } from '../billing/billing.ts'
import { version } from '../contract/index.ts'
import type { RuntimeStatus } from '../contract/instance.ts'
import type { Authenticator } from '../features/authenticate.ts'
import { createBillingHook } from '../features/billing.ts'
import type { Foundation } from '../features/found.ts'
import { createHandlers, createResolver, type FeatureDeps } from '../features/index.ts'
import { createJoining } from '../features/joining.ts'
import type { KeptAnswers } from '../features/kept-answers.ts'
import { createPurgeTokenLookup, type Purge } from '../features/purge.ts'
import type { SettingsBook } from '../features/settings.ts'
import { createPassage } from '../features/remotes.ts'
import { createPasswordSignIn } from '../features/sign-in.ts'
import { createGate, type GateOptions } from '../http/index.ts'
import type { Lan } from '../lan/lan.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isPassword } from '../lib/password.ts'
import type { PlatformOptions } from '../options.ts'
import type { PlatformHost } from '../platform.ts'
import type { Store } from '../store/open.ts'

interface GateParts {
  options: Pick<PlatformOptions, 'dashboard_dir' | 'names' | 'stripe'>
  host: PlatformHost
  features: FeatureDeps
  authenticator: Authenticator
  foundation: Foundation
  keptAnswers: KeptAnswers
  billing: Billing
  purge: Purge
  settings: SettingsBook
  runtime: RuntimeStatus
  lan(): Lan | undefined
  store: Store
  clock: Clock
  log: Log
}

/** The gate with all that stands behind it. It does not listen yet. */
export function openGate({
  options,
  host,
  features,
  authenticator,
  foundation,
  billing,
  purge,
  settings,
  runtime,
  store,
  clock,
  log,
  ...parts
}: GateParts) {
  const began = clock.monotonic()
  const loop = monitorEventLoopDelay({ resolution: 10 })
  loop.enable()
  const signInByPassword = createPasswordSignIn({
    db: store.db,
    clock,
    compare: (password, stored, from) => isPassword(password, stored, from, host.password_cost),
  })
  const gateOptions: GateOptions = {
    handlers: createHandlers(features),
    resolve: createResolver(features),
    passage: createPassage(features),
    keptAnswers: parts.keptAnswers,
    authenticate: authenticator,
    credentialAlive: authenticator.credentialAlive,
    signIn: authenticator.signIn,
    codeFor: authenticator.codeFor,
    signInByPassword,
    joining: createJoining(features, signInByPassword, authenticator, host.password_cost),
    owner_email: foundation.owner.email,
    cookie_name: foundation.cookie_name,
    dashboard_dir: options.dashboard_dir,
    has_card_form: options.stripe !== null,
    billingHook: createBillingHook(billing),
    purgeHook: { projectOf: createPurgeTokenLookup(store.db), purge: (projectId, what) => purge(projectId, what, 'webhook') },
    rateLimits: () => {
      const { rate_limit_authenticated, rate_limit_anonymous } = settings.current()
      return { window_ms: 60_000, authenticated: rate_limit_authenticated, anonymous: rate_limit_anonymous }
    },
    hosts: () => options.names,
    networkHosts: () => parts.lan()?.hosts() ?? [],
    health: async () => ({
      status: 'ok' as const,
      version,
      runtime,
      uptime_s: Math.round((clock.monotonic() - began) / 1000),
      checks: {
        database: store.db.readNow((tx) => tx.sqlFirst('SELECT 1 AS one')) ? 'ok' : 'failed',
        edge: 'ok',
        ...(store.recovered ? { recovered_from_backup: store.recovered.copied_at } : {}),
        event_loop_p99_ms: (loop.percentile(99) / 1e6).toFixed(1),
        event_loop_longest_ms: (loop.max / 1e6).toFixed(1),
      },
    }),
    clock,
    log,
  }
  const gate = createGate(host.api?.(gateOptions) ?? gateOptions)
  return {
    ...gate,
    async close(closing: Parameters<typeof gate.close>[0]) {
      await gate.close(closing)
      loop.disable()
    },
  }
}
