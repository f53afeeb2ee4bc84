import { createBillingService } from '../billing/billing-service.ts'
import { createStripeProcessor } from '../billing/stripe.ts'
import type { SettingsService } from '../features/settings.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { StripeOptions } from '../options.ts'
import type { Store } from '../store/store.ts'
import type { PeriodicJobs } from '../maintenance/periodic-jobs.ts'

interface StartBillingOptions {
  stripe: StripeOptions | null
  store: Store
  settings: SettingsService
  owner: { account_id: string }
  rounds: Pick<PeriodicJobs, 'add'>
  clock: Clock
  log: Log
}

/** Starts billing. Expired trials and plans are handled even without a payment processor. */
export async function startBilling({ stripe, store, settings, owner, rounds, clock, log }: StartBillingOptions) {
  const billing = await createBillingService({ db: store.db, processor: stripe && createStripeProcessor(stripe), clock, log })
  settings.reload()
  store.events.subscribeTo({ type: 'account_changed', id: owner.account_id }, settings.reload)
  rounds.add('billing', billing.applyExpirations)
  return billing
}
