import type { Tx } from './store.ts'
import type { InvitationRow } from './tables.ts'

/** Invalidates earlier invitations to the same address, so that only one link is valid. */
export function insertInvitation(tx: Tx, invitation: InvitationRow): void {
  tx.sqlRun('DELETE FROM invitations WHERE account_id = ? AND email = ? AND accepted_at IS NULL', invitation.account_id, invitation.email)
  tx.run(tx.query.insertInto('invitations').values(invitation))
}

/** Pending invitations, newest first. */
export function listInvitations(tx: Tx, accountId: string, now: string): InvitationRow[] {
  return tx.sqlAll(
    'SELECT * FROM invitations WHERE account_id = ? AND accepted_at IS NULL AND expires_at > ? ORDER BY created_at DESC, id DESC',
    accountId,
    now,
  )
}

export function deleteInvitation(tx: Tx, accountId: string, id: string): number {
  return tx.run(tx.query.deleteFrom('invitations').where('account_id', '=', accountId).where('id', '=', id).where('accepted_at', 'is', null))
}

/** The pending invitation of a code. Deleting a user deletes their invitations, so the inviter always exists. */
export function findInvitation(
  tx: Tx,
  hash: string,
  now: string,
): (InvitationRow & { owner_email: string; owner_is_instance_owner: 0 | 1 }) | undefined {
  return tx.sqlFirst(
    `SELECT i.*, u.email AS owner_email, u.is_instance_owner AS owner_is_instance_owner FROM invitations i JOIN users u ON u.account_id = i.account_id
     WHERE i.hash = ? AND i.accepted_at IS NULL AND i.expires_at > ?`,
    hash,
    now,
  )
}

export function acceptInvitation(tx: Tx, id: string, now: string): void {
  tx.run(tx.query.updateTable('invitations').set({ accepted_at: now }).where('id', '=', id))
}

export interface TeamMemberRow {
  user_id: string
  email: string
  role: 'owner' | 'member'
  created_at: string
}

/** The owner first, then the members in order of joining. */
export function listTeamMembers(tx: Tx, accountId: string): TeamMemberRow[] {
  return tx.sqlAll(
    `SELECT id AS user_id, email, 'owner' AS role, created_at FROM users WHERE account_id = ?
     UNION ALL
     SELECT * FROM (SELECT u.id, u.email, 'member', m.created_at FROM team_members m JOIN users u ON u.id = m.user_id
       WHERE m.account_id = ? ORDER BY m.created_at, u.id)`,
    accountId,
    accountId,
  )
}

/** The teams that a user is a member of, with their owners. */
export function listTeamsOfUser(tx: Tx, userId: string): { account_id: string; owner_email: string; created_at: string }[] {
  return tx.sqlAll(
    `SELECT m.account_id, u.email AS owner_email, m.created_at FROM team_members m JOIN users u ON u.account_id = m.account_id
     WHERE m.user_id = ? ORDER BY u.email`,
    userId,
  )
}

/** Replaces all links of a user with this one. */
export function replaceVerification(tx: Tx, verification: { hash: string; user_id: string; expires_at: string }): void {
  deleteVerifications(tx, verification.user_id)
  insertVerification(tx, verification)
}

export function findVerification(tx: Tx, hash: string, now: string): { user_id: string } | undefined {
  return tx.sqlFirst('SELECT user_id FROM email_verifications WHERE hash = ? AND expires_at > ?', hash, now)
}

export function deleteVerifications(tx: Tx, userId: string): void {
  tx.run(tx.query.deleteFrom('email_verifications').where('user_id', '=', userId))
}

/** Adds a link without invalidating earlier ones. */
export function insertVerification(tx: Tx, verification: { hash: string; user_id: string; expires_at: string }): void {
  tx.run(tx.query.insertInto('email_verifications').values(verification))
}

/** The number of links of one user, or of all. */
export function countVerifications(tx: Tx, userId?: string): number {
  const found =
    userId === undefined
      ? tx.sqlFirst<{ count: number }>('SELECT count(*) AS count FROM email_verifications')
      : tx.sqlFirst<{ count: number }>('SELECT count(*) AS count FROM email_verifications WHERE user_id = ?', userId)
  return found?.count ?? 0
}

/** Deletes users who registered but never opened the link, and who have no other data. */
export function deleteUnverifiedUsers(tx: Tx, now: string): void {
  const unverified = tx.sqlAll<{ id: string; account_id: string }>(
    `SELECT u.id, u.account_id FROM email_verifications v JOIN users u ON u.id = v.user_id
     WHERE v.expires_at <= ? AND u.email_verified = 0 AND u.is_instance_owner = 0
       AND NOT EXISTS (SELECT 1 FROM passwords WHERE user_id = u.id)
       AND NOT EXISTS (SELECT 1 FROM tokens WHERE user_id = u.id)
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE user_id = u.id)
       AND NOT EXISTS (SELECT 1 FROM projects WHERE account_id = u.account_id)
       AND NOT EXISTS (SELECT 1 FROM team_members WHERE user_id = u.id OR account_id = u.account_id)
       AND NOT EXISTS (SELECT 1 FROM invitations WHERE account_id = u.account_id)
       AND NOT EXISTS (SELECT 1 FROM owned_domains WHERE account_id = u.account_id)`,
    now,
  )
  for (const { id, account_id } of unverified) {
    tx.run(tx.query.deleteFrom('users').where('id', '=', id))
    tx.run(tx.query.deleteFrom('accounts').where('id', '=', account_id))
  }
  tx.sqlRun('DELETE FROM email_verifications WHERE expires_at <= ?', now)
}
