import { settings as schema, type Settings } from '../contract/instance.ts'
import { limits } from '../contract/limits.ts'
import type { Db } from '../store/open.ts'
import { findAccount, findOwner, readSettings, updateAccount, updateUser, writeSetting } from '../store/people.ts'

export interface SettingsBook {
  current(): Settings
  /** Stores a change and makes it hold from now on. */
  change(change: Partial<Settings>): Promise<Settings>
}

type Plain = Omit<Settings, 'plan' | 'email_verified' | 'payment_method'>

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
  sign_up: 'invited',
}

/** The settings, read once and kept in memory. Three of them are the owner's own account, so that a plan can be tried. */
export function createSettingsBook(db: Db): SettingsBook {
  const read = (): Settings =>
    db.readNow((tx) => {
      const stored = readSettings(tx)
      const plain = Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, stored[key as keyof Plain] ?? value]))
      const owner = findOwner(tx)
      const account = owner && findAccount(tx, owner.account_id)
      return schema.parse({
        ...plain,
        plan: account?.plan ?? 'enterprise',
        email_verified: owner?.email_verified === 1,
        payment_method: account?.has_payment_method === 1,
      })
    })
  let current = read()

  return {
    current: () => current,
    async change({ plan, email_verified, payment_method, ...plain }) {
      await db.write((tx) => {
        for (const [key, value] of Object.entries(plain)) if (value !== undefined) writeSetting(tx, key, value)
        const owner = findOwner(tx)
        if (!owner) return
        if (email_verified !== undefined) updateUser(tx, owner.id, { email_verified: email_verified ? 1 : 0 })
        if (plan !== undefined) updateAccount(tx, owner.account_id, { plan })
        if (payment_method !== undefined) updateAccount(tx, owner.account_id, { has_payment_method: payment_method ? 1 : 0 })
      })
      current = read()
      return current
    },
  }
}
