import type { Tx } from './open.ts'
import type { IdempotencyRow } from './tables.ts'

type Of = Pick<IdempotencyRow, 'account_id' | 'key'>

export function findIdempotencyKey(tx: Tx, { account_id, key }: Of): IdempotencyRow | undefined {
  return tx.sqlFirst('SELECT * FROM idempotency_keys WHERE account_id = ? AND key = ?', account_id, key)
}

export function putIdempotencyKey(tx: Tx, row: IdempotencyRow): void {
  deleteIdempotencyKey(tx, row)
  tx.run(tx.query.insertInto('idempotency_keys').values(row))
}

export function updateIdempotencyKey(
  tx: Tx,
  { account_id, key }: Of,
  change: Pick<IdempotencyRow, 'fingerprint' | 'status' | 'headers' | 'sealed_body'>,
): void {
  tx.run(tx.query.updateTable('idempotency_keys').set(change).where('account_id', '=', account_id).where('key', '=', key))
}

export function deleteIdempotencyKey(tx: Tx, { account_id, key }: Of): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE account_id = ? AND key = ?', account_id, key)
}

export function deleteIdempotencyKeysBefore(tx: Tx, created_at: string): void {
  tx.sqlRun('DELETE FROM idempotency_keys WHERE created_at <= ?', created_at)
}
