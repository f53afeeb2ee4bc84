import type { Tx } from './open.ts'
import type { IdempotencyRow } from './tables.ts'

type Of = Pick<IdempotencyRow, 'account_id' | 'key'>

export function findIdempotencyKey(tx: Tx, { account_id, key }: Of): IdempotencyRow | undefined {
  return tx.sqlFirst('SELECT * FROM idempotency_keys WHERE account_id = ? AND key = ?', account_id, key)
}

export function putIdempotencyKey(tx: Tx, row: IdempotencyRow): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE account_id = ? AND key = ?', row.account_id, row.key)
  tx.run(tx.query.insertInto('idempotency_keys').values(row))
}

/** A request that was not answered for good. */
export function deleteUnansweredIdempotencyKey(tx: Tx, { account_id, key }: Of): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE account_id = ? AND key = ? AND status IS NULL', account_id, key)
}

export function deleteIdempotencyKeysBefore(tx: Tx, created_at: string): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE created_at <= ?', created_at)
}
