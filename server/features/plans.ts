import type { PlanName } from '../contract/instance.ts'
import { isoTime } from '../lib/clock.ts'
import type { Tx } from '../store/store.ts'
import { findAccount } from '../store/users.ts'

/** The trial of a new account. */
export const trialOffer = { plan: 'pro', days: 14 } as const

/** The effective plan: during a trial, a starter account has the limits of the trial's plan. */
export function effectivePlan(account: { plan: PlanName; trial_ends_at: string | null }, now_ms: number): PlanName {
  const { plan, trial_ends_at } = account
  return plan === 'starter' && trial_ends_at !== null && trial_ends_at > isoTime(now_ms) ? trialOffer.plan : plan
}

/** The current limits of an account. */
export function effectivePlanOfAccount(tx: Tx, accountId: string, now_ms: number): PlanName {
  const account = findAccount(tx, accountId)
  return account ? effectivePlan(account, now_ms) : 'starter'
}
