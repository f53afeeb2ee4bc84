import type { BillingStatus } from '../../../server/contract/billing.ts'
import type { PlanName } from '../../../server/contract/instance.ts'
import type { Plan } from '../../../server/contract/plans.ts'

export const planNames = ['starter', 'basic', 'pro', 'enterprise'] as const satisfies readonly PlanName[]
export const paidPlans = ['basic', 'pro', 'enterprise'] as const satisfies readonly PlanName[]
export type PaidPlan = (typeof paidPlans)[number]

/** Plan limits in one line. */
export function planSummary({ projects, memory_mb, max_replicas, always_warm, concurrent_builds }: Plan): string {
  return [
    projects === null ? 'Unlimited projects' : `${projects} projects`,
    `${memory_mb} MB each`,
    `up to ${max_replicas} replicas`,
    concurrent_builds === 1 ? '1 concurrent build' : `${concurrent_builds} concurrent builds`,
    always_warm ? 'optionally always warm' : 'sleeps when idle',
  ].join(', ')
}

/** Remaining days, rounded up: a trial that ends tonight has one day left. */
export function daysLeft(iso: string, now: number): number {
  const left_ms = Date.parse(iso) - now
  // Tolerates one minute of clock difference to the instance.
  return left_ms <= 0 ? 0 : Math.max(1, Math.ceil((left_ms - 60_000) / 86_400_000))
}

/** Whether the subscription can be canceled: it is active and has no end date. */
export function canCancel({ subscription_status: status, cancel_at }: BillingStatus): boolean {
  return status !== null && cancel_at === null && status !== 'canceled' && status !== 'incomplete_expired'
}

export function cardLabel(card: BillingStatus['card']): string {
  if (card === null) return 'Card on file'
  return `${card.brand === null ? 'Card' : card.brand.charAt(0).toUpperCase() + card.brand.slice(1)} ending in ${card.last4}`
}
