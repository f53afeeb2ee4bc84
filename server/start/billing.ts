import { createBilling } from '../billing/billing.ts'
import { createStripeProcessor } from '../billing/stripe.ts'
import type { SettingsBook } from '../features/settings.ts'
import type { Bus } from '../lib/bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { StripeOptions } from '../options.ts'
import type { Store } from '../store/open.ts'
import type { Rounds } from '../upkeep/rounds.ts'

interface BillingParts {
  stripe: StripeOptions | null
  store: Store
  settings: SettingsBook
  owner: { account_id: string }
  rounds: Pick<Rounds, 'add'>
  bus: Bus
  clock: Clock
  log: Log
}

/** Payments, when there is a processor; what trials end and plans take away in any case. */
export async function openBilling({ stripe, store, settings, owner, rounds, bus, clock, log }: BillingParts) {
  const billing = await createBilling({ db: store.db, processor: stripe && createStripeProcessor(stripe), clock, bus, log })
  settings.reload()
  bus.on(`account:${owner.account_id}`, settings.reload)
  rounds.add('billing', billing.look)
  return billing
}
