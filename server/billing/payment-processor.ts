import type { BillingInterval } from '../contract/billing.ts'
import type { PlanName } from '../contract/instance.ts'

export type PaidPlan = Exclude<PlanName, 'starter'>

interface Card {
  last4: string
  brand: string | null
}

export interface Subscription {
  id: string
  /** The status as the processor names it. */
  status: string
  /** The plan and interval; undefined if the price is not one of Homeport's. */
  selection: { plan: PaidPlan; interval: BillingInterval } | undefined
  /** End in milliseconds since 1970; null if it renews. */
  cancel_at: number | null
}

/** The current state of a customer at the processor. */
export interface CustomerState {
  /** The default payment method; null: none. `card` is null for other methods, such as a bank account. */
  payment_method: { id: string; card: Card | null } | null
  /** Newest first. */
  subscriptions: Subscription[]
}

/** A payment processor. It owns the billing state; Homeport only reads that state and never computes it. */
export interface PaymentProcessor {
  readonly publishable_key: string | null
  /** Idempotent within a day: the same account gets the same customer. */
  createCustomer(account: { account_id: string; email: string }): Promise<string>
  /** Starts saving a card in the browser. */
  createSetupIntent(customerId: string): Promise<{ client_secret: string }>
  fetchCustomer(customerId: string): Promise<CustomerState>
  /** The payment method that was saved last; undefined if there is none or it was removed. */
  findNewestPaymentMethod(customerId: string): Promise<string | undefined>
  /** null clears the default. */
  setDefaultPaymentMethod(customerId: string, paymentMethodId: string | null): Promise<void>
  /** The ID of the price. Throws `PaymentProcessorError` if no price is configured. */
  findPrice(selection: { plan: PaidPlan; interval: BillingInterval }): Promise<string>
  subscribe(customerId: string, priceId: string): Promise<void>
  /** Charges or credits the difference now, and reverts a cancellation. */
  switchPrice(subscriptionId: string, priceId: string): Promise<void>
  cancelAtPeriodEnd(subscriptionId: string): Promise<void>
  /** Verifies and parses a webhook event. Throws `WebhookSignatureError`. */
  verifyEvent(sent: { body: Buffer; signature: string; now: number }): Promise<{ id: string; type: string; customer_id: string | null }>
}

/** The processor refused or did not respond. The message is for the client; nothing was changed on this instance. */
export class PaymentProcessorError extends Error {}

/** The signature is invalid or too old. */
export class WebhookSignatureError extends Error {}

/** No webhook secret is configured. */
export class MissingWebhookSecretError extends Error {}
