import { exists, first, tables } from './query.ts'
import type { Tx } from './store.ts'

export interface PasswordRow {
  user_id: string
  hash: string
  created_at: string
}

export const findPassword = first((userId: string) => tables.selectFrom('passwords').selectAll().where('user_id', '=', userId))

/** Whether the owner of the instance can sign in from another device. */
export const hasOwnerPassword = exists(() =>
  tables.selectFrom('passwords as p').innerJoin('users as u', 'u.id', 'p.user_id').select('p.user_id').where('u.is_instance_owner', '=', 1),
)

/** The password of the user with this address; undefined for an unknown address and for a user without a password. */
export const findPasswordByEmail = first((email: string) =>
  tables.selectFrom('passwords as p').innerJoin('users as u', 'u.id', 'p.user_id').selectAll('p').where('u.email', '=', email),
)

/** Sets the password and ends every session of the user except `keepSessionId`. */
export function setPassword(tx: Tx, password: PasswordRow, keepSessionId: string): void {
  tx.run(
    tables
      .insertInto('passwords')
      .values(password)
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash: password.hash, created_at: password.created_at })),
  )
  tx.run(tables.deleteFrom('sessions').where('user_id', '=', password.user_id).where('id', '!=', keepSessionId))
}
