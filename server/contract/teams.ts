/** Teams, invitations, and links that verify an email address. An account has one owner and a team of members. */
import { z } from 'zod'
import { user } from './instance.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse } from './shared.ts'

const email = z
  .email()
  .max(254)
  .transform((text) => text.toLowerCase())

export const teamMember = z.object({
  user_id: z.string(),
  email: z.string(),
  role: z.enum(['owner', 'member']),
  created_at: dateTime.describe('When the person joined the team.'),
})
export type TeamMember = z.output<typeof teamMember>

export const invitation = z.object({ id: z.string(), email: z.string(), expires_at: dateTime, created_at: dateTime })
export type Invitation = z.output<typeof invitation>

export const team = z.object({ account_id: z.string(), owner_email: z.string(), created_at: dateTime })
export type Team = z.output<typeof team>

const linkFields = {
  url: z.string().describe('Works once. It is only in this response, because only its hash is stored.'),
  expires_at: dateTime,
  was_sent: z.boolean().describe('Whether the link was also sent by email, which needs HOMEPORT_SMTP_URL.'),
}

export const teamOperations = {
  getTeam: operation({
    method: 'GET',
    path: '/instance/team',
    group: 'Instance',
    summary: 'Get my team, its invitations, and the teams I belong to',
    access: 'caller',
    scope: 'admin',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ members: z.array(teamMember), invitations: z.array(invitation), teams: z.array(team) }) },
    errors: [],
  }),
  createInvitation: operation({
    method: 'POST',
    path: '/instance/team/invitations',
    group: 'Instance',
    summary: 'Invite a person to my team with a link that works once and expires after 7 days',
    description: 'A new invitation of the same address revokes the earlier link.',
    access: 'caller',
    params: empty,
    query: empty,
    body: z.strictObject({ email }),
    success: { status: 201, json: z.object({ invitation, ...linkFields }) },
    errors: ['invalid_input', 'email_not_verified', 'email_taken'],
  }),
  revokeInvitation: operation({
    method: 'DELETE',
    path: '/instance/team/invitations/{id}',
    group: 'Instance',
    summary: 'Revoke an invitation to my team',
    access: 'caller',
    params: z.object({ id: z.string() }),
    query: empty,
    success: { status: 204 },
    errors: ['invitation_not_found'],
  }),
  acceptInvitation: operation({
    method: 'POST',
    path: '/instance/team/join',
    group: 'Instance',
    summary: 'Join the team of an invitation as the signed-in user',
    access: 'caller',
    params: empty,
    query: empty,
    body: z.strictObject({ code: z.string().min(1).max(200).describe('The parameter `code` of the link.') }),
    success: { status: 200, json: z.object({ team }) },
    errors: ['invalid_input', 'invitation_not_found', 'email_taken'],
  }),
  removeMember: operation({
    method: 'DELETE',
    path: '/instance/team/members/{id}',
    group: 'Instance',
    summary: 'Remove a person from my team',
    access: 'caller',
    params: z.object({ id: z.string().describe('The `user_id`.') }),
    query: empty,
    success: { status: 204 },
    errors: ['user_not_found'],
  }),
  leaveTeam: operation({
    method: 'POST',
    path: '/instance/team/leave',
    group: 'Instance',
    summary: 'Leave a team',
    access: 'caller',
    params: empty,
    query: empty,
    body: z.strictObject({ account_id: z.string().min(1).max(100) }),
    success: { status: 200, json: okResponse },
    errors: ['invalid_input', 'user_not_found'],
  }),
  createVerificationLink: operation({
    method: 'POST',
    path: '/instance/verification-links',
    group: 'Instance',
    summary: 'Create a link for verifying an address and choosing a password; an unknown address gets an account',
    description:
      'Works once and expires after 7 days. A new link for the same person revokes the earlier one. A person with a verified address and a password can choose a new password with it.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ email }),
    success: { status: 201, json: z.object({ user, ...linkFields }) },
    errors: ['invalid_input'],
  }),
  sendVerification: operation({
    method: 'POST',
    path: '/instance/verification',
    group: 'Instance',
    summary: 'Send me the link that verifies my address',
    description: 'Without a mail server nothing is sent; the owner of the instance can create the link.',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ was_sent: z.boolean(), message: z.string() }) },
    errors: [],
  }),
}
