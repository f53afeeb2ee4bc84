import type { PlanName } from '../contract/instance.ts'
import type { Tx } from './store.ts'

/** A token or session with the user and account that it belongs to. */
export interface CallerRow {
  credential_id: string
  expires_at: string | null
  user_id: string
  account_id: string
  email: string
  email_verified: 0 | 1
  is_instance_owner: 0 | 1
  plan: PlanName
  trial_ends_at: string | null
}

export function findCallerByCredential(tx: Tx, table: 'tokens' | 'sessions', hash: string): CallerRow | undefined {
  return tx.sqlFirst(
    `SELECT c.id AS credential_id, c.expires_at, u.id AS user_id, u.account_id, u.email, u.email_verified, u.is_instance_owner, a.plan, a.trial_ends_at
     FROM ${table} c JOIN users u ON u.id = c.user_id JOIN accounts a ON a.id = u.account_id WHERE c.hash = ?`,
    hash,
  )
}

export function recordTokenUse(tx: Tx, id: string, now: string): void {
  tx.sqlRun('UPDATE tokens SET last_used_at = ? WHERE id = ?', now, id)
}
