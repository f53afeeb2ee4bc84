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

export function findAccountByCustomerId(tx: Tx, customerId: string): AccountRow | undefined {
  return tx.sqlFirst('SELECT * FROM accounts WHERE customer_id = ?', customerId)
}

export function updateBilling(tx: Tx, accountId: string, change: Partial<BillingColumns>): void {
  tx.run(tx.query.updateTable('accounts').set(change).where('id', '=', accountId))
}

/** Records an event of the payment processor; false if it was already recorded. */
export function insertBillingEvent(tx: Tx, id: string, created_at: string): boolean {
  return tx.sqlFirst('INSERT INTO billing_events (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id', id, created_at) !== undefined
}

export function hasBillingEvent(tx: Tx, id: string): boolean {
  return tx.sqlFirst('SELECT 1 AS one FROM billing_events WHERE id = ?', id) !== undefined
}

export function deleteBillingEventsBefore(tx: Tx, before: string): void {
  tx.sqlRun('DELETE FROM billing_events WHERE created_at < ?', before)
}

/** Clears payment methods of accounts that the payment processor does not know. They were simulated while there was no processor. */
export function clearEmulatedPaymentMethods(tx: Tx): void {
  tx.sqlRun('UPDATE accounts SET has_payment_method = 0 WHERE customer_id IS NULL AND has_payment_method = 1')
}

/** Disables always-warm for starter accounts without an active trial. Returns the ids of the affected projects. */
export function disableAlwaysWarm(tx: Tx, now: string): string[] {
  return tx
    .sqlAll<{ id: string }>(
      `UPDATE projects SET always_warm = 0, updated_at = ? WHERE always_warm = 1 AND deleted_at IS NULL AND account_id IN
         (SELECT id FROM accounts WHERE plan = 'starter' AND (trial_ends_at IS NULL OR trial_ends_at <= ?)) RETURNING id`,
      now,
      now,
    )
    .map(({ id }) => id)
}
