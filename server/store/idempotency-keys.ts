import type { Tx } from './store.ts'
import type { IdempotencyKeyRow } from './tables.ts'

type IdempotencyKeyRef = Pick<IdempotencyKeyRow, 'account_id' | 'key'>

export function findIdempotencyKey(tx: Tx, { account_id, key }: IdempotencyKeyRef): IdempotencyKeyRow | undefined {
  return tx.sqlFirst('SELECT * FROM idempotency_keys WHERE account_id = ? AND key = ?', account_id, key)
}

export function upsertIdempotencyKey(tx: Tx, row: IdempotencyKeyRow): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE account_id = ? AND key = ?', row.account_id, row.key)
  tx.run(tx.query.insertInto('idempotency_keys').values(row))
}

/** Deletes the key of a request that has no final response. */
export function deletePendingIdempotencyKey(tx: Tx, { account_id, key }: IdempotencyKeyRef): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE account_id = ? AND key = ? AND status IS NULL', account_id, key)
}

export function deleteIdempotencyKeysBefore(tx: Tx, created_at: string): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE created_at <= ?', created_at)
}
