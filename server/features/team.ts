import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newSecret } from '../lib/token.ts'
import {
  acceptInvitation,
  findInvitation,
  insertInvitation,
  listInvitations,
  listTeamMembers,
  listTeamsOfUser,
  deleteInvitation,
} from '../store/invitations.ts'
import type { Tx } from '../store/store.ts'
import { addTeamMember, removeTeamMember } from '../store/users.ts'
import type { InvitationRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { invitationEmail, linkOrigin } from './emails.ts'

type TeamHandlers = Pick<OperationHandlers, 'getTeam' | 'createInvitation' | 'revokeInvitation' | 'acceptInvitation' | 'removeMember' | 'leaveTeam'>

const invitationLifetime_ms = 7 * 24 * 3600_000
/** Limit of open invitations, against abuse for sending emails. */
const maxOpenInvitations = 50

export const invitationNotFound = () =>
  new Problem('invitation_not_found', 'This invitation was already used, was revoked or has expired. Ask for a new one.')

/** The team of the caller's own account. Members of another account's team cannot manage it. */
export function createTeamHandlers(deps: FeatureDeps): TeamHandlers {
  const { db } = deps.store
  const now = () => isoTime(deps.clock.now())

  return {
    async getTeam({ caller }) {
      return db.read((tx) => ({
        members: listTeamMembers(tx, caller.account_id),
        invitations: listInvitations(tx, caller.account_id, now()).map(presentInvitation),
        teams: listTeamsOfUser(tx, caller.user_id),
      }))
    },

    async createInvitation({ caller }, { body }) {
      if (!caller.email_verified) throw new Problem('email_not_verified', 'Your email address is not verified. Verify it, then invite others.')
      const code = newSecret()
      const row: InvitationRow = {
        id: newId('inv'),
        account_id: caller.account_id,
        email: body.email,
        hash: hashSecret(code),
        expires_at: isoTime(deps.clock.now() + invitationLifetime_ms),
        accepted_at: null,
        created_at: now(),
      }
      await db.write((tx) => {
        if (listTeamMembers(tx, caller.account_id).some(({ email }) => email === body.email))
          throw new Problem('email_taken', `${body.email} is already in your team.`)
        if (listInvitations(tx, caller.account_id, now()).length >= maxOpenInvitations)
          throw new Problem('forbidden', `You already have ${maxOpenInvitations} open invitations. Revoke one first.`)
        insertInvitation(tx, row)
      })
      const url = `${linkOrigin(deps)}/join?code=${code}`
      const was_sent = await deps.mail.send(invitationEmail({ to: body.email, owner_email: caller.email, url }))
      return { invitation: presentInvitation(row), url, expires_at: row.expires_at, was_sent }
    },

    async revokeInvitation({ caller }, { params }) {
      const removed = await db.write((tx) => deleteInvitation(tx, caller.account_id, params.id))
      if (removed === 0) throw new Problem('invitation_not_found', 'Your account has no open invitation with this ID. Check the ID.')
    },

    async acceptInvitation({ caller }, { body }) {
      const team = await db.write((tx) => joinTeam(tx, body.code, caller, now()))
      return { team }
    },

    async removeMember({ caller }, { params }) {
      const removed = await db.write((tx) => removeTeamMember(tx, caller.account_id, params.id))
      if (removed === 0) throw new Problem('user_not_found', 'Your team has no such member. The owner of an account cannot be removed.')
    },

    async leaveTeam({ caller }, { body }) {
      const removed = await db.write((tx) => removeTeamMember(tx, body.account_id, caller.user_id))
      if (removed === 0) throw new Problem('user_not_found', 'You are not in this team. homeport team list shows your teams.')
      return { ok: true }
    },
  }
}

/** Redeems an invitation. */
export function joinTeam(tx: Tx, code: string, person: { user_id: string; account_id: string }, now: string) {
  const invitation = findInvitation(tx, hashSecret(code), now)
  if (!invitation) throw invitationNotFound()
  const { account_id, owner_email } = invitation
  if (account_id === person.account_id) throw new Problem('email_taken', 'This invitation is for your own team. Send the link to another person.')
  addTeamMember(tx, account_id, person.user_id, now)
  acceptInvitation(tx, invitation.id, now)
  return listTeamsOfUser(tx, person.user_id).find((team) => team.account_id === account_id) ?? { account_id, owner_email, created_at: now }
}

const presentInvitation = ({ id, email, expires_at, created_at }: InvitationRow) => ({ id, email, expires_at, created_at })
