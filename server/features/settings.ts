import { settings as schema, type Settings } from '../contract/instance.ts'
import { limits } from '../contract/limits.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { updateBilling } from '../store/billing.ts'
import type { Db } from '../store/open.ts'
import { findAccount, findOwner, readSettings, updateAccount, updateUser, writeSetting } from '../store/people.ts'

export interface SettingsBook {
  current(): Settings
  /** Stores a change and makes it hold from now on. */
  change(change: Partial<Settings>): Promise<Settings>
  /** The owner's account was changed by somebody else. */
  reload(): void
}

/** These are the owner's account itself, so that a client can be tried against every 402 and 403. */
const accountSettings = ['plan', 'email_verified', 'payment_method', 'trial_days'] as const
const day_ms = 86_400_000

type Plain = Omit<Settings, (typeof accountSettings)[number]>

const defaults: Plain = {
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
  https_redirect: false,
  hosts_file: false,
  screenshots: true,
  lan: false,
  dns_server: null,
  sign_up: 'invited',
  platform_ip: null,
  dns_resolvers: null,
}

/** The settings, read once and kept in memory. */
export function createSettingsBook(db: Db, clock: Clock): SettingsBook {
  let trialEndsAt: string | null = null
  const daysLeft = () => (trialEndsAt === null ? null : Math.max(0, Math.ceil((Date.parse(trialEndsAt) - clock.now()) / day_ms)))
  const read = (): Settings =>
    db.readNow((tx) => {
      const stored = readSettings(tx)
      const plain = Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, stored[key as keyof Plain] ?? value]))
      const owner = findOwner(tx)
      const account = owner && findAccount(tx, owner.account_id)
      trialEndsAt = account?.trial_ends_at ?? null
      return schema.parse({
        ...plain,
        plan: account?.plan ?? 'enterprise',
        email_verified: owner?.email_verified === 1,
        payment_method: account?.has_payment_method === 1,
        trial_days: daysLeft(),
      })
    })
  let current = read()

  return {
    current: () => (trialEndsAt === null ? current : { ...current, trial_days: daysLeft() }),
    reload: () => void (current = read()),
    async change({ plan, email_verified, payment_method, trial_days, ...plain }) {
      await db.write((tx) => {
        for (const [key, value] of Object.entries(plain)) if (value !== undefined) writeSetting(tx, key, value)
        const owner = findOwner(tx)
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
