import { first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { IdempotencyKeyRow } from './tables.ts'

type IdempotencyKeyRef = Pick<IdempotencyKeyRow, 'account_id' | 'key'>

const findKey = first((account: string, key: string) =>
  tables.selectFrom('idempotency_keys').selectAll().where('account_id', '=', account).where('key', '=', key),
)
const deleteKey = run((account: string, key: string) =>
  tables.deleteFrom('idempotency_keys').where('account_id', '=', account).where('key', '=', key),
)
const deletePendingKey = run((account: string, key: string) =>
  tables.deleteFrom('idempotency_keys').where('account_id', '=', account).where('key', '=', key).where('status', 'is', null),
)

export const findIdempotencyKey = (tx: Tx, { account_id, key }: IdempotencyKeyRef): IdempotencyKeyRow | undefined => findKey(tx, account_id, key)

export function upsertIdempotencyKey(tx: Tx, row: IdempotencyKeyRow): void {
  deleteKey(tx, row.account_id, row.key)
  tx.run(tables.insertInto('idempotency_keys').values(row))
}

/** Deletes the key of a request that has no final response. */
export const deletePendingIdempotencyKey = (tx: Tx, { account_id, key }: IdempotencyKeyRef): void => void deletePendingKey(tx, account_id, key)

export const deleteIdempotencyKeysBefore = run((created_at: string) => tables.deleteFrom('idempotency_keys').where('created_at', '<=', created_at))
