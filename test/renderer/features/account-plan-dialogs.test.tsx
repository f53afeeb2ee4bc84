import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { queryKeys } from '../../../renderer/api/query-keys.ts'
import { PlanAndCard } from '../../../renderer/features/account/plan-and-card.tsx'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import { useUi } from '../../../renderer/stores/ui.ts'
import { type BillingStatus, billingStatus } from '../../../server/contract/billing.ts'
import { createExample } from '../../support/contract-example.ts'
import { type PartOptions, problemResponse, renderPart } from '../../support/dashboard.tsx'

const createBilling = (own: Partial<BillingStatus> = {}) =>
  createExample(billingStatus, {
    plan: 'basic',
    billing_interval: 'monthly',
    subscription_status: 'active',
    card: { last4: '4242', brand: 'visa' },
    trial_ends_at: null,
    free_domain_credits: 0,
    ...own,
  })
const renderPlan = (own: Partial<BillingStatus> = {}, answers: PartOptions['answers'] = {}) =>
  renderPart(<PlanAndCard />, { data: [[queryKeys.billing, createBilling(own)]], answers })
const button = (name: string) => screen.getByRole('button', { name })
const toasts = () => useUi.getState().toasts.map(({ text }) => text)

afterEach(() => vi.restoreAllMocks())

const ended = '2026-01-31T12:00:00.000Z'
const isNew = { plan: 'starter', subscription_status: null, has_payment_method: false } as const

test('a subscription is canceled after a question', async () => {
  const { user, sent, text } = renderPlan({}, { cancelBilling: { ok: true } })
  await user.click(button('Cancel subscription…'))
  expect(text()).toBe(
    'Cancel subscription? You keep Basic until the current billing period ends, then your account moves to Starter. Nothing is deleted, but features that Starter does not include stop. You can choose a plan again at any time. Keep plan Cancel subscription [Close]',
  )
  await user.click(button('Cancel subscription'))
  expect(sent).toEqual([{ operation: 'cancelBilling', params: {} }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual(['Subscription canceled. It ends with the current billing period.'])
})

test('a cancelation that fails says why', async () => {
  const { user, text } = renderPlan({}, { cancelBilling: problemResponse('billing_error', 'Try later.') })
  await user.click(button('Cancel subscription…'))
  await user.click(button('Cancel subscription'))
  expect(await screen.findByText('Try later.')).toBeTruthy()
  expect(text()).toContain('billing_error')
  await user.click(button('Keep plan'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('another plan is charged to the card', async () => {
  const { user, sent, text } = renderPlan({}, { confirmBilling: { ok: true, plan: 'pro', interval: 'yearly' } })
  await user.click(button('Change plan…'))
  expect(text()).toContain('Choose a plan Charged to Visa ending in 4242. Time already paid for is credited. Plan basic Basic (current)10')
  expect(text().match(/\(current\)/g)).toHaveLength(1)
  expect(screen.getAllByRole('radio', { checked: true }).map((one) => one.getAttribute('value') ?? one.textContent)).toEqual(['basic', 'Monthly'])
  expect(button('Switch to Basic')).toHaveProperty('disabled', true)
  await user.click(screen.getByRole('radio', { name: 'Yearly' }))
  expect(button('Switch to Basic')).toHaveProperty('disabled', false)
  await user.click(screen.getByRole('radio', { name: /^Pro/ }))
  await user.click(button('Switch to Pro'))
  expect(sent).toEqual([{ operation: 'confirmBilling', params: {}, body: { plan: 'pro', interval: 'yearly' } }])
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(toasts()).toEqual(['Plan changed.'])
})

test.each<[string, Partial<BillingStatus>]>([
  ['has ended', { cancel_at: ended }],
  ['is late', { subscription_status: 'past_due' }],
])('the same plan can be chosen again when the subscription %s', async (_, own) => {
  const { user, sent } = renderPlan(own)
  await user.click(button('Change plan…'))
  await user.click(button('Switch to Basic'))
  expect(sent).toEqual([{ operation: 'confirmBilling', params: {}, body: { plan: 'basic', interval: 'monthly' } }])
})

test('a plan that cannot be chosen says why', async () => {
  const { user, text } = renderPlan({ plan: 'enterprise' }, { confirmBilling: problemResponse('billing_error', 'Try later.') })
  await user.click(button('Change plan…'))
  expect(screen.getByRole('radio', { name: /^Enterprise/ })).toHaveProperty('checked', true)
  await user.click(screen.getByRole('radio', { name: /^Basic/ }))
  await user.click(button('Switch to Basic'))
  expect(await screen.findByText('Try later.')).toBeTruthy()
  expect(text()).toContain('billing_error')
  await user.click(button('Cancel'))
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('without a card the card form is next', async () => {
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => {})
  const { user, sent, text } = renderPlan(isNew)
  await user.click(button('Choose plan…'))
  expect(text()).toContain('Choose a plan You add a payment card in the next step.')
  await user.click(button('Continue to card'))
  expect(assign.mock.calls).toEqual([[expect.stringMatching(/account\/card\?plan=basic&interval=monthly$/)]])
  expect(sent).toEqual([])
})

test('the card form of a remote account opens on its own dashboard', async () => {
  useConnection.setState({ current: { ...localConnection, id: 'rem_1', origin: 'https://deploy.example.com' } })
  const open = vi.spyOn(window, 'open').mockReturnValue(null)
  const { user } = renderPlan(isNew)
  await user.click(button('Choose plan…'))
  await user.click(button('Continue to card'))
  expect(open.mock.calls).toEqual([['https://deploy.example.com/app/account?at=plan', '_blank', 'noopener']])
})
