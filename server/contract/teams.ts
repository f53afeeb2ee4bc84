/** Teams and invitations, and the links that prove an address. Each account has one owner; a team has members beside. */
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
  created_at: dateTime.describe('When they came into the team.'),
})
export type TeamMember = z.output<typeof teamMember>

export const invitation = z.object({ id: z.string(), email: z.string(), expires_at: dateTime, created_at: dateTime })
export type Invitation = z.output<typeof invitation>

export const team = z.object({ account_id: z.string(), owner_email: z.string(), created_at: dateTime })
export type Team = z.output<typeof team>

const linkFields = {
  url: z.string().describe('Good once. It is in this answer and in no other: only its hash is stored.'),
  expires_at: dateTime,
  was_sent: z.boolean().describe('Whether it went out by e-mail as well; that needs HOMEPORT_SMTP_URL.'),
}

export const teamOperations = {
  getTeam: operation({
    method: 'GET',
    path: '/instance/team',
    group: 'Instance',
    summary: 'The team of my account, who is invited to it, and the teams that I am in',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ members: z.array(teamMember), invitations: z.array(invitation), teams: z.array(team) }) },
    errors: [],
  }),
  createInvitation: operation({
    method: 'POST',
    path: '/instance/team/invitations',
    group: 'Instance',
    summary: 'Invite somebody to the team of my account, by a link that is good once and for 7 days',
    description: 'A further invitation of the same address makes the earlier link void.',
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
    summary: 'Make an invitation of my account void',
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
    summary: 'Join the team that a link invites to, as whom I am signed in',
    access: 'caller',
    params: empty,
    query: empty,
    body: z.strictObject({ code: z.string().min(1).max(200).describe('What stands behind `code=` in the link.') }),
    success: { status: 200, json: z.object({ team }) },
    errors: ['invalid_input', 'invitation_not_found', 'email_taken'],
  }),
  removeMember: operation({
    method: 'DELETE',
    path: '/instance/team/members/{id}',
    group: 'Instance',
    summary: 'Take a person out of the team of my account',
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
    summary: 'Leave a team that I am in',
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
    summary: 'A link by which a person proves the address and chooses a password; an unknown address gets an account',
    description:
      'Good once and for 7 days. A further one for the same person makes the earlier void. Whoever has proved the address and has a password may choose another one there.',
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
    description: 'Without a mail server nothing is sent; the owner of the instance can make the link.',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ was_sent: z.boolean(), message: z.string() }) },
    errors: [],
  }),
}
