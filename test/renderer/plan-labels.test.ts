import { describe, expect, it } from 'vitest'
import type { BillingStatus } from '../../server/contract/billing.ts'
import { plans } from '../../server/contract/plans.ts'
import { canCancel, cardLabel, daysLeft, planSummary } from '../../renderer/features/account/plan-labels.ts'

const billing: BillingStatus = {
  processor_enabled: true,
  has_payment_method: true,
  subscription_status: 'active',
  card: { last4: '4242', brand: 'visa' },
  plan: 'pro',
  trial_ends_at: null,
  billing_interval: 'yearly',
  free_domain_credits: 0,
  cancel_at: null,
  publishable_key: 'pk_test_1',
}

describe('a plan', () => {
  it('is described by its limits', () => {
    expect(planSummary(plans.starter)).toBe('3 projects, 256 MB each, up to 2 replicas, 1 concurrent build, sleeps when idle')
    expect(planSummary(plans.enterprise)).toContain('Unlimited projects')
  })

  it('has remaining days of trial, rounded up', () => {
    const now = Date.parse('2026-11-21T12:00:00.000Z')
    expect(daysLeft('2026-11-21T12:00:01.000Z', now)).toBe(1)
    expect(daysLeft('2026-11-23T12:00:30.000Z', now)).toBe(2)
    expect(daysLeft('2026-11-23T13:00:00.000Z', now)).toBe(3)
    expect(daysLeft('2026-11-20T12:00:00.000Z', now)).toBe(0)
  })
})

describe('a subscription', () => {
  it('can be canceled once', () => {
    expect(canCancel(billing)).toBe(true)
    expect(canCancel({ ...billing, cancel_at: '2026-12-01T00:00:00.000Z' })).toBe(false)
    expect(canCancel({ ...billing, subscription_status: 'canceled' })).toBe(false)
    expect(canCancel({ ...billing, subscription_status: null })).toBe(false)
  })
})

it('a card is shown by its last four digits', () => {
  expect(cardLabel(billing.card)).toBe('Visa ending in 4242')
  expect(cardLabel({ last4: '4242', brand: null })).toBe('Card ending in 4242')
  expect(cardLabel(null)).toBe('Card on file')
})
