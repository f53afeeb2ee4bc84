import { createBillingService } from '../billing/billing-service.ts'
import { createStripeProcessor } from '../billing/stripe.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'
import type { PlatformContext } from './context.ts'

/** Starts billing. Expired trials and plans are handled even without a payment processor. */
export async function startBilling({ options, store, events, settings, identity, clock, log }: PlatformContext, jobs: Pick<PeriodicJobs, 'add'>) {
  const processor = options.stripe && createStripeProcessor(options.stripe)
  const billing = await createBillingService({ db: store.db, processor, clock, log })
  settings.reload()
  events.subscribeTo({ type: 'account_changed', id: identity.owner.account_id }, settings.reload)
  jobs.add('billing', billing.applyExpirations)
  return billing
}
