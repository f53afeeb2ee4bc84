import type { Tx } from './store.ts'
import type { AccountRow, TokenRow, UserRow } from './tables.ts'

/** A user and the user's own account. */
export interface UserWithAccount {
  user: UserRow
  account: AccountRow
}

/** The columns of a new account; the others have defaults. */
export type NewAccount = Pick<AccountRow, 'id' | 'plan' | 'has_payment_method' | 'created_at'> & Partial<AccountRow>

export function insertUserWithAccount(tx: Tx, userWithAccount: { user: UserRow; account: NewAccount }): void {
  tx.run(tx.query.insertInto('accounts').values(userWithAccount.account))
  tx.run(tx.query.insertInto('users').values(userWithAccount.user))
}

export function findUserByEmail(tx: Tx, email: string): UserRow | undefined {
  return tx.first(tx.query.selectFrom('users').selectAll().where('email', '=', email))
}

export function findInstanceOwner(tx: Tx): UserRow | undefined {
  return tx.sqlFirst('SELECT * FROM users WHERE is_instance_owner = 1')
}

export function findUser(tx: Tx, id: string): UserRow | undefined {
  return tx.sqlFirst('SELECT * FROM users WHERE id = ?', id)
}

export function findAccount(tx: Tx, id: string): AccountRow | undefined {
  return tx.sqlFirst('SELECT * FROM accounts WHERE id = ?', id)
}

export function listUsersWithAccounts(tx: Tx): UserWithAccount[] {
  const accounts = new Map(tx.all<AccountRow>(tx.query.selectFrom('accounts').selectAll()).map((account) => [account.id, account]))
  return tx.all<UserRow>(tx.query.selectFrom('users').selectAll().orderBy('created_at').orderBy('id')).flatMap((user) => {
    const account = accounts.get(user.account_id)
    return account ? [{ user, account }] : []
  })
}

export function updateUser(tx: Tx, id: string, change: Partial<Pick<UserRow, 'email_verified'>>): void {
  tx.run(tx.query.updateTable('users').set(change).where('id', '=', id))
}

export function updateAccount(tx: Tx, id: string, change: Partial<Pick<AccountRow, 'plan' | 'has_payment_method'>>): void {
  tx.run(tx.query.updateTable('accounts').set(change).where('id', '=', id))
}

/** Deletes a user. The account row stays, because rows of deleted projects refer to it; nobody can sign in to it. */
export function deleteUser(tx: Tx, id: string): void {
  for (const table of ['invitations', 'team_members'])
    tx.sqlRun(`DELETE FROM ${table} WHERE account_id = (SELECT account_id FROM users WHERE id = ?)`, id)
  tx.run(tx.query.deleteFrom('users').where('id', '=', id))
}

export function addTeamMember(tx: Tx, accountId: string, userId: string, created_at: string): void {
  tx.run(
    tx.query
      .insertInto('team_members')
      .values({ account_id: accountId, user_id: userId, created_at })
      .onConflict((conflict) => conflict.doNothing()),
  )
}

export function removeTeamMember(tx: Tx, accountId: string, userId: string): number {
  return tx.run(tx.query.deleteFrom('team_members').where('account_id', '=', accountId).where('user_id', '=', userId))
}

/** Accounts whose projects a user may see: the user's own, and those of their teams. */
export function listVisibleAccountIds(tx: Tx, user: { id: string; account_id: string }): string[] {
  const teams = tx.sqlAll<{ account_id: string }>('SELECT account_id FROM team_members WHERE user_id = ?', user.id)
  return [...new Set([user.account_id, ...teams.map((row) => row.account_id)])]
}

export function insertToken(tx: Tx, token: TokenRow): void {
  tx.run(tx.query.insertInto('tokens').values(token))
}

export function findTokenByHash(tx: Tx, hash: string): TokenRow | undefined {
  return tx.sqlFirst('SELECT * FROM tokens WHERE hash = ?', hash)
}

export function deleteRunTokens(tx: Tx): void {
  tx.run(tx.query.deleteFrom('tokens').where('kind', '=', 'run'))
}

export interface SessionRow {
  id: string
  user_id: string
  hash: string
  expires_at: string
  created_at: string
}

export function insertSession(tx: Tx, session: SessionRow): void {
  tx.run(tx.query.insertInto('sessions').values(session))
}

export function findSessionByHash(tx: Tx, hash: string): SessionRow | undefined {
  return tx.sqlFirst('SELECT * FROM sessions WHERE hash = ?', hash)
}

export function deleteSession(tx: Tx, id: string): void {
  tx.run(tx.query.deleteFrom('sessions').where('id', '=', id))
}

/** Whether a token or session is still valid. Open streams check this repeatedly. */
export function isCredentialActive(tx: Tx, id: string, now: string): boolean {
  const row =
    tx.sqlFirst('SELECT 1 AS one FROM tokens WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)', id, now) ??
    tx.sqlFirst('SELECT 1 AS one FROM sessions WHERE id = ? AND expires_at > ?', id, now)
  return row !== undefined
}

export function insertSignInCode(tx: Tx, code: { hash: string; user_id: string; expires_at: string }): void {
  tx.run(tx.query.insertInto('sign_in_codes').values(code))
}

/** The user of a code; undefined if it is unknown or expired. */
export function findSignInCode(tx: Tx, hash: string, now: string): { email: string; is_instance_owner: boolean } | undefined {
  const row = tx.sqlFirst<{ email: string; is_instance_owner: 0 | 1 }>(
    'SELECT u.email, u.is_instance_owner FROM sign_in_codes c JOIN users u ON u.id = c.user_id WHERE c.hash = ? AND c.expires_at > ?',
    hash,
    now,
  )
  return row && { email: row.email, is_instance_owner: row.is_instance_owner === 1 }
}

/** Deletes a code, so that it works only once; undefined if it is unknown or expired. */
export function consumeSignInCode(tx: Tx, hash: string, now: string): { user_id: string } | undefined {
  tx.sqlRun('DELETE FROM sign_in_codes WHERE expires_at <= ?', now)
  return tx.sqlFirst('DELETE FROM sign_in_codes WHERE hash = ? RETURNING user_id', hash)
}
