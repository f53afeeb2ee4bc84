import { MissingWebhookSecretError, WebhookSignatureError, PaymentProcessorError } from '../billing/payment-processor.ts'
import type { BillingService } from '../billing/billing-service.ts'
import { Problem } from '../contract/errors.ts'
import type { Settings } from '../contract/instance.ts'
import { findAccount } from '../store/users.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type BillingHandlers = Pick<OperationHandlers, 'getBillingStatus' | 'createSetupIntent' | 'confirmBilling' | 'cancelBilling'>

/** Billing of the caller's own account. Team members cannot see or change the billing of another account. */
export function createBillingHandlers({ billing, store }: FeatureDeps): BillingHandlers {
  return {
    async getBillingStatus({ caller }) {
      const account = await store.db.read((tx) => findAccount(tx, caller.account_id))
      if (!account) throw new Problem('unauthorized', 'This user was removed. Sign in with another account.')
      return {
        processor_enabled: billing.processor !== null,
        publishable_key: billing.processor?.publishable_key ?? null,
        has_payment_method: account.has_payment_method === 1,
        card: account.card_last4 === null ? null : { last4: account.card_last4, brand: account.card_brand },
        plan: account.plan,
        trial_ends_at: account.trial_ends_at,
        billing_interval: account.billing_interval,
        subscription_status: account.subscription_status,
        cancel_at: account.cancel_at,
        free_domain_credits: account.free_domain_credits,
      }
    },

    async createSetupIntent({ caller }) {
      requireProcessor(billing)
      return translateBillingErrors(billing.createSetupIntent({ account_id: caller.account_id, email: caller.email }))
    },

    async confirmBilling({ caller }, { body }) {
      requireProcessor(billing)
      if (!(await translateBillingErrors(billing.confirm(caller.account_id, body))))
        throw new Problem(
          'payment_method_required',
          'The account has no card yet. Save one with the card form of a setup intent, then confirm again.',
        )
      return { ok: true, plan: body.plan, interval: body.interval }
    },

    async cancelBilling({ caller }) {
      requireProcessor(billing)
      await translateBillingErrors(billing.cancel(caller.account_id))
      return { ok: true }
    },
  }
}

/** Handles the webhook of the payment processor. */
export function createBillingWebhook(billing: BillingService): (webhook: { body: Buffer; signature: string }) => Promise<void> {
  return async (webhook) => {
    requireProcessor(billing)
    await translateBillingErrors(billing.handleWebhook(webhook))
  }
}

/** With a payment processor, the emulated plan settings of the owner cannot be changed. */
export function rejectEmulatedSettings(billing: BillingService, change: Partial<Settings>, current: Settings): void {
  if (!billing.processor) return
  const message = 'The payment processor of this instance sets this value. It can be changed only if no payment processor is configured.'
  const issues = (['plan', 'payment_method', 'trial_days'] as const).filter((key) => change[key] !== undefined && change[key] !== current[key])
  if (issues.length > 0)
    throw new Problem('invalid_input', 'These settings cannot be changed here.', { issues: issues.map((path) => ({ path, message })) })
}

function requireProcessor({ processor }: BillingService): void {
  if (!processor)
    throw new Problem('billing_not_configured', 'This instance accepts no payments. Its owner can set HOMEPORT_STRIPE_SECRET_KEY and restart it.')
}

async function translateBillingErrors<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    if (error instanceof PaymentProcessorError) throw new Problem('billing_error', error.message, { cause: error.cause ?? error })
    if (error instanceof WebhookSignatureError)
      throw new Problem('bad_request', 'The signature of the payment processor is invalid or too old. Nothing was changed.')
    if (error instanceof MissingWebhookSecretError)
      throw new Problem('billing_not_configured', 'This instance cannot verify events. Its owner must set HOMEPORT_STRIPE_WEBHOOK_SECRET.')
    throw error
  }
}
