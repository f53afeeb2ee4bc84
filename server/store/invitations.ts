import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { InvitationRow } from './tables.ts'

const deletePendingInvitations = run((accountId: string, email: string) =>
  tables.deleteFrom('invitations').where('account_id', '=', accountId).where('email', '=', email).where('accepted_at', 'is', null),
)

/** Invalidates earlier invitations to the same address, so that only one link is valid. */
export function insertInvitation(tx: Tx, invitation: InvitationRow): void {
  deletePendingInvitations(tx, invitation.account_id, invitation.email)
  tx.run(tables.insertInto('invitations').values(invitation))
}

/** Pending invitations, newest first. */
export const listInvitations = all((accountId: string, now: string) =>
  tables
    .selectFrom('invitations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc'),
)

export const deleteInvitation = run((accountId: string, id: string) =>
  tables.deleteFrom('invitations').where('account_id', '=', accountId).where('id', '=', id).where('accepted_at', 'is', null),
)

export const findInvitationEmail = first((id: string) => tables.selectFrom('invitations').select('email').where('id', '=', id))

/** The pending invitation of a code. Deleting a user deletes their invitations, so the inviter always exists. */
export const findInvitation = first((hash: string, now: string) =>
  tables
    .selectFrom('invitations as i')
    .innerJoin('users as u', 'u.account_id', 'i.account_id')
    .selectAll('i')
    .select(['u.email as owner_email', 'u.is_instance_owner as owner_is_instance_owner'])
    .where('i.hash', '=', hash)
    .where('i.accepted_at', 'is', null)
    .where('i.expires_at', '>', now),
)

export function acceptInvitation(tx: Tx, id: string, now: string): void {
  tx.run(tables.updateTable('invitations').set({ accepted_at: now }).where('id', '=', id))
}

export interface TeamMemberRow {
  user_id: string
  email: string
  role: 'owner' | 'member'
  created_at: string
}

const findAccountOwner = first((accountId: string) =>
  tables.selectFrom('users').select(['id as user_id', 'email', 'created_at']).where('account_id', '=', accountId),
)
const listMembers = all((accountId: string) =>
  tables
    .selectFrom('team_members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id as user_id', 'u.email', 'm.created_at'])
    .where('m.account_id', '=', accountId)
    .orderBy('m.created_at')
    .orderBy('u.id'),
)

/** The owner first, then the members in order of joining. */
export function listTeamMembers(tx: Tx, accountId: string): TeamMemberRow[] {
  const owner = findAccountOwner(tx, accountId)
  return [
    ...(owner ? [{ ...owner, role: 'owner' as const }] : []),
    ...listMembers(tx, accountId).map((member) => ({ ...member, role: 'member' as const })),
  ]
}

/** Whether an email address is that of the owner or a member of an account's team. */
export const isTeamMember = (tx: Tx, accountId: string, address: string): boolean =>
  listTeamMembers(tx, accountId).some(({ email }) => email.toLowerCase() === address.toLowerCase())

/** The teams that a user is a member of, with their owners. */
export const listTeamsOfUser = all((userId: string) =>
  tables
    .selectFrom('team_members as m')
    .innerJoin('users as u', 'u.account_id', 'm.account_id')
    .select(['m.account_id', 'u.email as owner_email', 'm.created_at'])
    .where('m.user_id', '=', userId)
    .orderBy('u.email'),
)

/** Replaces all links of a user with this one. */
export function replaceVerification(tx: Tx, verification: { hash: string; user_id: string; expires_at: string }): void {
  deleteVerifications(tx, verification.user_id)
  insertVerification(tx, verification)
}

export const findVerification = first((hash: string, now: string) =>
  tables.selectFrom('email_verifications').select('user_id').where('hash', '=', hash).where('expires_at', '>', now),
)

export const deleteVerifications = run((userId: string) => tables.deleteFrom('email_verifications').where('user_id', '=', userId))

/** Adds a link without invalidating earlier ones. */
export function insertVerification(tx: Tx, verification: { hash: string; user_id: string; expires_at: string }): void {
  tx.run(tables.insertInto('email_verifications').values(verification))
}

/** The number of links of one user, or of all. */
export function countVerifications(tx: Tx, userId?: string): number {
  const links = tables.selectFrom('email_verifications').select((eb) => eb.fn.countAll<number>().as('count'))
  return tx.first(userId === undefined ? links : links.where('user_id', '=', userId))?.count ?? 0
}

const listUnverifiedUsers = all((now: string) =>
  tables
    .selectFrom('email_verifications as v')
    .innerJoin('users as u', 'u.id', 'v.user_id')
    .select(['u.id', 'u.account_id'])
    .where('v.expires_at', '<=', now)
    .where('u.email_verified', '=', 0)
    .where('u.is_instance_owner', '=', 0)
    .where(({ and, exists, not, selectFrom }) => {
      const hasNone = (found: Parameters<typeof exists>[0]) => not(exists(found))
      return and([
        hasNone(selectFrom('passwords as p').select('p.user_id').whereRef('p.user_id', '=', 'u.id')),
        hasNone(selectFrom('tokens as t').select('t.id').whereRef('t.user_id', '=', 'u.id')),
        hasNone(selectFrom('sessions as s').select('s.id').whereRef('s.user_id', '=', 'u.id')),
        hasNone(selectFrom('projects as o').select('o.id').whereRef('o.account_id', '=', 'u.account_id')),
        hasNone(
          selectFrom('team_members as m')
            .select('m.user_id')
            .where((eb) => eb.or([eb('m.user_id', '=', eb.ref('u.id')), eb('m.account_id', '=', eb.ref('u.account_id'))])),
        ),
        hasNone(selectFrom('invitations as i').select('i.id').whereRef('i.account_id', '=', 'u.account_id')),
        hasNone(selectFrom('owned_domains as d').select('d.id').whereRef('d.account_id', '=', 'u.account_id')),
      ])
    }),
)
const deleteExpiredVerifications = run((now: string) => tables.deleteFrom('email_verifications').where('expires_at', '<=', now))

/** Deletes users who registered but never opened the link, and who have no other data. */
export function deleteUnverifiedUsers(tx: Tx, now: string): void {
  for (const { id, account_id } of listUnverifiedUsers(tx, now)) {
    tx.run(tables.deleteFrom('users').where('id', '=', id))
    tx.run(tables.deleteFrom('accounts').where('id', '=', account_id))
  }
  deleteExpiredVerifications(tx, now)
}
