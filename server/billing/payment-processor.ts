import type { BillingInterval } from '../contract/billing.ts'
import type { PlanName } from '../contract/instance.ts'

export type PaidPlan = Exclude<PlanName, 'starter'>

interface Card {
  last4: string
  brand: string | null
}

export interface Subscription {
  id: string
  /** As the processor calls it. */
  status: string
  /** What is paid for; undefined when its price is none of ours. */
  selection: { plan: PaidPlan; interval: BillingInterval } | undefined
  /** When it ends, milliseconds since 1970; null: it goes on. */
  cancel_at: number | null
}

/** What the processor knows of a customer now. */
export interface CustomerState {
  /** What is charged; null: nothing is on file. `card` is null for one that is no card, such as a bank account. */
  payment_method: { id: string; card: Card | null } | null
  /** Newest first. */
  subscriptions: Subscription[]
}

/** One that takes payments. The state is its own: we ask for it and never keep count ourselves. */
export interface PaymentProcessor {
  readonly publishable_key: string | null
  /** The same customer for the same account, however often it is asked within a day. */
  createCustomer(account: { account_id: string; email: string }): Promise<string>
  /** Saving a card begins here, in the browser. */
  createSetupIntent(customerId: string): Promise<{ client_secret: string }>
  fetchCustomer(customerId: string): Promise<CustomerState>
  /** The payment method that the customer saved last; undefined: none, or it was taken away again. */
  findNewestPaymentMethod(customerId: string): Promise<string | undefined>
  /** null: none is charged by default. */
  setDefaultPaymentMethod(customerId: string, paymentMethodId: string | null): Promise<void>
  /** What the subscription costs. Throws `ProcessorFailed` when nobody set a price. */
  findPrice(selection: { plan: PaidPlan; interval: BillingInterval }): Promise<string>
  subscribe(customerId: string, priceId: string): Promise<void>
  /** Charges or credits the difference now, and takes a cancellation back. */
  switchPrice(subscriptionId: string, priceId: string): Promise<void>
  cancelAtPeriodEnd(subscriptionId: string): Promise<void>
  /** An event that the processor signed. Throws `BadSignature`. */
  verifyEvent(sent: { body: Buffer; signature: string; now: number }): Promise<{ id: string; type: string; customer_id: string | null }>
}

/** The processor refused or did not answer. The message is for the client; nothing of ours was changed. */
export class PaymentProcessorError extends Error {}

/** Not signed by the processor, or signed too long ago. */
export class WebhookSignatureError extends Error {}

/** No secret was given to check signatures with. */
export class MissingWebhookSecretError extends Error {}
