import { all, exists, first, run, tables } from './query.ts'
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
  tx.run(tables.insertInto('accounts').values(userWithAccount.account))
  tx.run(tables.insertInto('users').values(userWithAccount.user))
}

export const findUserByEmail = first((email: string) => tables.selectFrom('users').selectAll().where('email', '=', email))

export const findInstanceOwner = first(() => tables.selectFrom('users').selectAll().where('is_instance_owner', '=', 1))

export const findUser = first((id: string) => tables.selectFrom('users').selectAll().where('id', '=', id))

export const findAccount = first((id: string) => tables.selectFrom('accounts').selectAll().where('id', '=', id))

const listAccounts = all(() => tables.selectFrom('accounts').selectAll())
const listUsers = all(() => tables.selectFrom('users').selectAll().orderBy('created_at').orderBy('id'))

export function listUsersWithAccounts(tx: Tx): UserWithAccount[] {
  const accounts = new Map(listAccounts(tx).map((account) => [account.id, account]))
  return listUsers(tx).flatMap((user) => {
    const account = accounts.get(user.account_id)
    return account ? [{ user, account }] : []
  })
}

export function updateUser(tx: Tx, id: string, change: Partial<Pick<UserRow, 'email_verified'>>): void {
  tx.run(tables.updateTable('users').set(change).where('id', '=', id))
}

export function updateAccount(tx: Tx, id: string, change: Partial<Pick<AccountRow, 'plan' | 'has_payment_method'>>): void {
  tx.run(tables.updateTable('accounts').set(change).where('id', '=', id))
}

/** Deletes a user. The account row stays, because rows of deleted projects refer to it; no one can sign in to it. */
export function deleteUser(tx: Tx, id: string): void {
  for (const table of ['invitations', 'team_members'] as const)
    tx.run(tables.deleteFrom(table).where('account_id', '=', (eb) => eb.selectFrom('users').select('users.account_id').where('users.id', '=', id)))
  tx.run(tables.deleteFrom('users').where('id', '=', id))
}

export function addTeamMember(tx: Tx, accountId: string, userId: string, created_at: string): void {
  tx.run(
    tables
      .insertInto('team_members')
      .values({ account_id: accountId, user_id: userId, created_at })
      .onConflict((conflict) => conflict.doNothing()),
  )
}

export function removeTeamMember(tx: Tx, accountId: string, userId: string): number {
  return tx.run(tables.deleteFrom('team_members').where('account_id', '=', accountId).where('user_id', '=', userId))
}

const listTeams = all((userId: string) => tables.selectFrom('team_members').select('account_id').where('user_id', '=', userId))

/** Accounts whose projects a user may see: the user's own, and those of their teams. */
export function listVisibleAccountIds(tx: Tx, user: { id: string; account_id: string }): string[] {
  return [...new Set([user.account_id, ...listTeams(tx, user.id).map((row) => row.account_id)])]
}

export function insertToken(tx: Tx, token: TokenRow): void {
  tx.run(tables.insertInto('tokens').values(token))
}

export const findTokenByHash = first((hash: string) => tables.selectFrom('tokens').selectAll().where('hash', '=', hash))

export const deleteRunTokens = run(() => tables.deleteFrom('tokens').where('kind', '=', 'run'))

export interface SessionRow {
  id: string
  user_id: string
  hash: string
  expires_at: string
  created_at: string
}

export function insertSession(tx: Tx, session: SessionRow): void {
  tx.run(tables.insertInto('sessions').values(session))
}

export const findSessionByHash = first((hash: string) => tables.selectFrom('sessions').selectAll().where('hash', '=', hash))

export const deleteSession = run((id: string) => tables.deleteFrom('sessions').where('id', '=', id))

const isTokenActive = exists((id: string, now: string) =>
  tables
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
)
const isSessionActive = exists((id: string, now: string) =>
  tables.selectFrom('sessions').select('id').where('id', '=', id).where('expires_at', '>', now),
)

/** Whether a token or session is still valid. Open streams check this repeatedly. */
export const isCredentialActive = (tx: Tx, id: string, now: string): boolean => isTokenActive(tx, id, now) || isSessionActive(tx, id, now)

export function insertSignInCode(tx: Tx, code: { hash: string; user_id: string; expires_at: string }): void {
  tx.run(tables.insertInto('sign_in_codes').values(code))
}

const findCodeOwner = first((hash: string, now: string) =>
  tables
    .selectFrom('sign_in_codes as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['u.email', 'u.is_instance_owner'])
    .where('c.hash', '=', hash)
    .where('c.expires_at', '>', now),
)
const deleteExpiredCodes = run((now: string) => tables.deleteFrom('sign_in_codes').where('expires_at', '<=', now))
const deleteCode = first((hash: string) => tables.deleteFrom('sign_in_codes').where('hash', '=', hash).returning('user_id'))

/** The user of a code; undefined if it is unknown or expired. */
export function findSignInCode(tx: Tx, hash: string, now: string): { email: string; is_instance_owner: boolean } | undefined {
  const row = findCodeOwner(tx, hash, now)
  return row && { email: row.email, is_instance_owner: row.is_instance_owner === 1 }
}

/** Deletes a code, so that it works only once; undefined if it is unknown or expired. */
export function consumeSignInCode(tx: Tx, hash: string, now: string): { user_id: string } | undefined {
  deleteExpiredCodes(tx, now)
  return deleteCode(tx, hash)
}
