import type { Tx } from './store.ts'
import type { TokenRow } from './tables.ts'

/** API tokens that the user created, newest first, from before `before` (a sequence number). */
export function listTokens(tx: Tx, options: { user_id: string; before: number | undefined; limit: number }): (TokenRow & { seq: number })[] {
  return tx.sqlAll(
    "SELECT rowid AS seq, * FROM tokens WHERE user_id = ? AND kind = 'api' AND rowid < ? ORDER BY rowid DESC LIMIT ?",
    options.user_id,
    options.before ?? Number.MAX_SAFE_INTEGER,
    options.limit,
  )
}

/** False if the user has no token with this id. */
export function deleteToken(tx: Tx, user_id: string, id: string): boolean {
  return tx.sqlFirst("DELETE FROM tokens WHERE id = ? AND user_id = ? AND kind = 'api' RETURNING id", id, user_id) !== undefined
}
