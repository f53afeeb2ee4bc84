import { z } from 'zod'
import { planName } from './instance.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse } from './shared.ts'

export const billingInterval = z.enum(['monthly', 'yearly'])
export type BillingInterval = z.output<typeof billingInterval>

export const billingStatus = z.object({
  processor_enabled: z.boolean(),
  has_payment_method: z.boolean(),
  subscription_status: z.string().nullable().describe('The status of the payment processor: active, trialing, past_due, canceled …'),
  card: z.object({ last4: z.string(), brand: z.string().nullable() }).nullable(),
  plan: planName,
  trial_ends_at: dateTime.nullable(),
  billing_interval: billingInterval,
  free_domain_credits: z.number().int(),
  cancel_at: dateTime.nullable().describe('When a canceled subscription ends.'),
  publishable_key: z.string().nullable().describe('Public key for the card form of the payment processor.'),
})
export type BillingStatus = z.output<typeof billingStatus>

export const billingOperations = {
  getBillingStatus: operation({
    method: 'GET',
    path: '/v1/billing/status',
    group: 'Billing',
    summary: 'Get plan, card and subscription',
    description: 'Also works without a payment processor.',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: billingStatus },
    errors: [],
  }),
  createSetupIntent: operation({
    method: 'POST',
    path: '/v1/billing/setup-intent',
    group: 'Billing',
    summary: 'Start saving a card in the browser',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ client_secret: z.string(), customer_id: z.string() }) },
    errors: ['forbidden', 'billing_error', 'billing_not_configured'],
  }),
  confirmBilling: operation({
    method: 'POST',
    path: '/v1/billing/confirm',
    group: 'Billing',
    summary: 'Use the saved card and start or switch the subscription',
    access: 'caller',
    params: empty,
    query: empty,
    body: z
      .strictObject({ plan: z.enum(['basic', 'pro', 'enterprise']).default('basic'), interval: billingInterval.default('monthly') })
      .default({ plan: 'basic', interval: 'monthly' }),
    success: { status: 200, json: okResponse.extend({ plan: planName, interval: billingInterval }) },
    errors: ['invalid_input', 'payment_method_required', 'forbidden', 'billing_error', 'billing_not_configured'],
  }),
  cancelBilling: operation({
    method: 'POST',
    path: '/v1/billing/cancel',
    group: 'Billing',
    summary: 'Cancel the subscription at the end of the paid period',
    description: 'The account switches to `starter` when the payment processor reports the end of the period.',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: okResponse },
    errors: ['forbidden', 'billing_error', 'billing_not_configured'],
  }),
}
