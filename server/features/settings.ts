import { settings as schema, type Settings } from '../contract/instance.ts'
import { limits } from '../contract/limits.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { updateBilling } from '../store/billing.ts'
import type { Db } from '../store/store.ts'
import { findAccount, findInstanceOwner, updateAccount, updateUser } from '../store/users.ts'
import { readSettings, writeSetting } from '../store/settings.ts'

export interface SettingsService {
  current(): Settings
  /** Stores and applies a change. */
  change(change: Partial<Settings>): Promise<Settings>
  /** Called when the owner's account changed in another way. */
  reload(): void
}

/** Settings that change the owner's account, for testing a client against every 402 and 403. */
const accountSettings = ['plan', 'email_verified', 'payment_method', 'trial_days'] as const
const day_ms = 86_400_000

type PlainSettings = Omit<Settings, (typeof accountSettings)[number]>

const defaultSettings: PlainSettings = {
  on_exit: 'default',
  build_concurrency: null,
  keep_deployments: 10,
  rate_limit_authenticated: limits.rate.authenticated,
  rate_limit_anonymous: limits.rate.anonymous,
  build_memory_mb: 2048,
  build_timeout_s: 1800,
  sleep_after_s: limits.sleep.after_s,
  frozen_for_s: limits.sleep.frozen_s,
  frozen_budget_mb: limits.sleep.frozen_budget_mb,
  cache_memory_mb: 128,
  cache_disk_mb: 1024,
  metrics: true,
  request_log: true,
  https_redirect: false,
  hosts_file: false,
  screenshots: true,
  lan: false,
  dns_server: null,
  sign_up: 'invited',
  platform_ip: null,
  dns_resolvers: null,
}

/** The settings, loaded once and kept in memory. */
export function createSettingsService(db: Db, clock: Clock): SettingsService {
  let trialEndsAt: string | null = null
  const trialDaysLeft = () => (trialEndsAt === null ? null : Math.max(0, Math.ceil((Date.parse(trialEndsAt) - clock.now()) / day_ms)))
  const read = (): Settings =>
    db.readSync((tx) => {
      const stored = readSettings(tx)
      const plain = Object.fromEntries(Object.entries(defaultSettings).map(([key, value]) => [key, stored[key as keyof PlainSettings] ?? value]))
      const owner = findInstanceOwner(tx)
      const account = owner && findAccount(tx, owner.account_id)
      trialEndsAt = account?.trial_ends_at ?? null
      return schema.parse({
        ...plain,
        plan: account?.plan ?? 'enterprise',
        email_verified: owner?.email_verified === 1,
        payment_method: account?.has_payment_method === 1,
        trial_days: trialDaysLeft(),
      })
    })
  let current = read()

  return {
    current: () => (trialEndsAt === null ? current : { ...current, trial_days: trialDaysLeft() }),
    reload: () => void (current = read()),
    async change({ plan, email_verified, payment_method, trial_days, ...plain }) {
      await db.write((tx) => {
        for (const [key, value] of Object.entries(plain)) if (value !== undefined) writeSetting(tx, key, value)
        const owner = findInstanceOwner(tx)
        if (!owner) return
        if (email_verified !== undefined) updateUser(tx, owner.id, { email_verified: email_verified ? 1 : 0 })
        if (plan !== undefined) updateAccount(tx, owner.account_id, { plan })
        if (payment_method !== undefined) updateAccount(tx, owner.account_id, { has_payment_method: payment_method ? 1 : 0 })
        if (trial_days !== undefined)
          updateBilling(tx, owner.account_id, { trial_ends_at: trial_days === null ? null : isoTime(clock.now() + trial_days * day_ms) })
      })
      current = read()
      return current
    },
  }
}
