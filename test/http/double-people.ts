/** Handlers of teams and links, and the pages of joining, for the double. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'
import type { Joining } from '../../server/http/people-doors.ts'

const at = '2026-01-31T12:00:00.000Z'
const invitation = { id: 'inv_1', email: 'new@example.com', expires_at: at, created_at: at }
const team = { account_id: 'acc_1', owner_email: 'owner@example.com', created_at: at }

type PeopleHandlers = Pick<
  Handlers<Context>,
  | 'getTeam'
  | 'createInvitation'
  | 'revokeInvitation'
  | 'acceptInvitation'
  | 'removeMember'
  | 'leaveTeam'
  | 'createVerificationLink'
  | 'sendVerification'
>

export function createPeopleHandlers(): PeopleHandlers {
  return {
    getTeam: async () => ({ members: [], invitations: [invitation], teams: [team] }),
    createInvitation: async () => ({ invitation, url: 'http://localhost/join?code=x', expires_at: at, was_sent: false }),
    revokeInvitation: async () => {},
    acceptInvitation: async () => ({ team }),
    removeMember: async () => {},
    leaveTeam: async () => ({ ok: true }),
    createVerificationLink: async ({ caller }, { body }) => ({
      user: {
        id: caller.user_id,
        account_id: caller.account_id,
        email: body.email,
        email_verified: false,
        is_instance_owner: false,
        created_at: at,
      },
      url: 'http://localhost/verify?code=x',
      expires_at: at,
      was_sent: false,
    }),
    sendVerification: async () => ({ was_sent: false, message: 'This instance sends no mail.' }),
  }
}

/** `good` is a link that works, to an address that is new; `too short` is no password. */
export function doubleJoining(session: string): Joining {
  const enter = (code: string, password: string) => {
    if (code !== 'good') return { gone: true } as const
    if (password === 'too often') return { wait_s: 7 }
    if (password === 'wrong') return { wrong: true } as const
    return password.length < 10 ? { refused: 'Choose a longer password.' } : { session: { secret: session, max_age_s: 3600 } }
  }
  return {
    mode: () => 'open',
    signUp: async () => {},
    sends_mail: () => true,
    forgot: async () => {},
    verifying: async (code) => (code === 'good' ? { email: 'new@example.com', asks: 'new_password' as const } : undefined),
    verify: async ({ code, password }) => enter(code, password),
    invited: async (code) => (code === 'good' ? { email: 'new@example.com', owner_email: 'owner@example.com' } : undefined),
    join: async ({ code, password }) => enter(code, password),
  }
}
