import type { Tx } from './store.ts'

export interface PasswordRow {
  user_id: string
  hash: string
  created_at: string
}

export function findPassword(tx: Tx, userId: string): PasswordRow | undefined {
  return tx.sqlFirst('SELECT * FROM passwords WHERE user_id = ?', userId)
}

/** Whether the owner of the instance can sign in from another device. */
export function hasOwnerPassword(tx: Tx): boolean {
  return tx.sqlFirst('SELECT 1 AS one FROM passwords p JOIN users u ON u.id = p.user_id WHERE u.is_instance_owner = 1') !== undefined
}

/** The password of the user with this address; undefined for an unknown address and for a user without a password. */
export function findPasswordByEmail(tx: Tx, email: string): PasswordRow | undefined {
  return tx.sqlFirst('SELECT p.* FROM passwords p JOIN users u ON u.id = p.user_id WHERE u.email = ?', email)
}

/** Sets the password and ends every session of the user except `keepSessionId`. */
export function setPassword(tx: Tx, password: PasswordRow, keepSessionId: string): void {
  tx.run(
    tx.query
      .insertInto('passwords')
      .values(password)
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash: password.hash, created_at: password.created_at })),
  )
  tx.run(tx.query.deleteFrom('sessions').where('user_id', '=', password.user_id).where('id', '!=', keepSessionId))
}
