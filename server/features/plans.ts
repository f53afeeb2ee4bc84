import type { PlanName } from '../contract/instance.ts'
import { isoTime } from '../lib/clock.ts'
import type { Tx } from '../store/store.ts'
import { findAccount } from '../store/users.ts'

/** What a new account of a hosted instance may try. */
export const trialOffer = { plan: 'pro', days: 14 } as const

/** The plan whose limits hold now: while a trial runs, a starter account has those of the trial's plan. */
export function effectivePlan(account: { plan: PlanName; trial_ends_at: string | null }, now_ms: number): PlanName {
  const { plan, trial_ends_at } = account
  return plan === 'starter' && trial_ends_at !== null && trial_ends_at > isoTime(now_ms) ? trialOffer.plan : plan
}

/** What holds for the projects of an account now. */
export function effectivePlanOfAccount(tx: Tx, accountId: string, now_ms: number): PlanName {
  const account = findAccount(tx, accountId)
  return account ? effectivePlan(account, now_ms) : 'starter'
}
