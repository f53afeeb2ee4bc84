import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'

type BillingHandlers = Pick<Handlers<Context>, 'getBillingStatus' | 'createSetupIntent' | 'confirmBilling' | 'cancelBilling'>

export function createBillingHandlers(): BillingHandlers {
  return {
    getBillingStatus: async ({ caller }) => ({
      processor_enabled: true,
      publishable_key: 'pk_test_1',
      has_payment_method: true,
      card: { last4: '4242', brand: 'visa' },
      plan: caller.plan,
      trial_ends_at: null,
      billing_interval: 'monthly',
      subscription_status: 'active',
      cancel_at: null,
      free_domain_credits: 0,
    }),
    createSetupIntent: async () => ({ client_secret: 'seti_1_secret_2', customer_id: 'cus_1' }),
    confirmBilling: async (_context, { body }) => ({ ok: true, ...body }),
    cancelBilling: async () => ({ ok: true }),
  }
}
