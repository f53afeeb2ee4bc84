import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { AccountRow } from './tables.ts'

export type BillingColumns = Pick<
  AccountRow,
  | 'plan'
  | 'has_payment_method'
  | 'billing_interval'
  | 'customer_id'
  | 'subscription_id'
  | 'subscription_status'
  | 'cancel_at'
  | 'card_last4'
  | 'card_brand'
  | 'trial_ends_at'
>

export const findAccountByCustomerId = first((customerId: string) => tables.selectFrom('accounts').selectAll().where('customer_id', '=', customerId))

export function updateBilling(tx: Tx, accountId: string, change: Partial<BillingColumns>): void {
  tx.run(tables.updateTable('accounts').set(change).where('id', '=', accountId))
}

/** Records an event of the payment processor; false if it was already recorded. */
export const insertBillingEvent = exists((id: string, created_at: string) =>
  tables
    .insertInto('billing_events')
    .values({ id, created_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
)

export const hasBillingEvent = exists((id: string) => tables.selectFrom('billing_events').select('id').where('id', '=', id))

export const deleteBillingEventsBefore = run((before: string) => tables.deleteFrom('billing_events').where('created_at', '<', before))

/** Clears payment methods of accounts that the payment processor does not know. They were simulated while there was no processor. */
export const clearEmulatedPaymentMethods = run(() =>
  tables.updateTable('accounts').set({ has_payment_method: 0 }).where('customer_id', 'is', null).where('has_payment_method', '=', 1),
)

const turnAlwaysWarmOff = all((now: string) =>
  tables
    .updateTable('projects')
    .set({ always_warm: 0, updated_at: now })
    .where('always_warm', '=', 1)
    .where('deleted_at', 'is', null)
    .where('account_id', 'in', (eb) =>
      eb
        .selectFrom('accounts')
        .select('id')
        .where('plan', '=', 'starter')
        .where((account) => account.or([account('trial_ends_at', 'is', null), account('trial_ends_at', '<=', now)])),
    )
    .returning('id'),
)

/** Disables always-warm for starter accounts without an active trial. Returns the ids of the affected projects. */
export const disableAlwaysWarm = (tx: Tx, now: string): string[] => turnAlwaysWarmOff(tx, now).map(({ id }) => id)
