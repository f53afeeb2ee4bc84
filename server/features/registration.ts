import type { ActivityAction } from '../contract/activity-actions.ts'
import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashPassword, type PasswordCost, PasswordQueueFullError } from '../lib/password.ts'
import { hashSecret, newSecret } from '../lib/token.ts'
import {
  insertVerification,
  countVerifications,
  findInvitation,
  findVerification,
  deleteUnverifiedUsers,
  deleteVerifications,
  replaceVerification,
} from '../store/invitations.ts'
import { recordActivity } from '../store/activity.ts'
import type { Tx } from '../store/store.ts'
import { findPassword, setPassword } from '../store/passwords.ts'
import { findUser, findUserByEmail, insertUserWithAccount, deleteSession, updateUser } from '../store/users.ts'
import type { UserRow } from '../store/tables.ts'
import { type Authenticator, createSession } from './authenticator.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { passwordResetEmail, accountExistsEmail, linkOrigin, verificationEmail } from './emails.ts'
import { trialOffer } from './plans.ts'
import { presentUser } from './presenters.ts'
import type { SignInAttempt, SignInResult } from './password-sign-in.ts'
import { joinTeam } from './team.ts'

type RegistrationDeps = Pick<FeatureDeps, 'store' | 'clock' | 'settings' | 'mail' | 'lan' | 'instance'>
type NewSession = { secret: string; max_age_s: number }
/** The password that a verification link asks for. */
type VerificationPrompt = 'nothing' | 'new_password' | 'own_password' | 'other_password'
/** `gone`: the link is no longer valid. `refused`: a message for the user. */
export type RegistrationResult = { session: NewSession | null } | { gone: true } | { refused: string } | { wrong: true } | { wait_s: number }

const verificationLifetime_ms = 7 * 24 * 3600_000
/** Maximum number of valid links: per person (no further emails are sent) and in total (no new users are accepted). */
const verificationLimits = { per_user: 3, total: 1000 }
const minPasswordLength = 10

/**
 * Registration by a verified email address or by an invitation. The password is chosen after opening the link, so signing up with the
 * address of another person gains nothing.
 */
export function createRegistration(
  deps: RegistrationDeps,
  signIn: (attempt: SignInAttempt) => Promise<SignInResult>,
  authenticator: Authenticator,
  passwordCost?: PasswordCost,
) {
  const { db } = deps.store
  const now = () => isoTime(deps.clock.now())

  const readPendingVerification = (code: string) =>
    db.read((tx) => {
      const user = findUserByVerificationCode(tx, code, now())
      if (!user) return undefined
      return { email: user.email, asks: verificationPromptOf(tx, user) }
    })

  return {
    signUpMode: () => deps.settings.current().sign_up,

    /** Behaves the same for every address. Only the email reveals whether it is known. */
    async signUp(email: string): Promise<void> {
      const code = newSecret()
      const found = await db.write((tx) => {
        deleteUnverifiedUsers(tx, now())
        const user = findUserByEmail(tx, email)
        if (user ? user.email_verified === 1 : countVerifications(tx) >= verificationLimits.total) return user
        const pendingUser = user ?? createUserWithAccount(deps, tx, email, 0)
        if (countVerifications(tx, pendingUser.id) >= verificationLimits.per_user) return undefined
        insertVerification(tx, createVerificationRow(deps, pendingUser.id, code))
        return pendingUser
      })
      if (!found || found.is_instance_owner) return
      // Not awaited, because the response time would reveal whether an email is sent.
      void deps.mail.send(
        found.email_verified
          ? accountExistsEmail({ to: email, url: `${linkOrigin(deps)}/sign-in` })
          : verificationEmail({ to: email, url: verificationUrl(deps, code) }),
      )
    },

    /** Sends a password reset link. Behaves the same for every address. The owner of the instance uses the command line instead. */
    async requestPasswordReset(email: string): Promise<void> {
      if (!deps.mail.is_enabled) return
      const code = newSecret()
      const found = await db.write((tx) => {
        deleteUnverifiedUsers(tx, now())
        const user = findUserByEmail(tx, email)
        if (!user || verificationPromptOf(tx, user) !== 'other_password' || countVerifications(tx, user.id) >= verificationLimits.per_user)
          return false
        insertVerification(tx, createVerificationRow(deps, user.id, code))
        return true
      })
      if (found) void deps.mail.send(passwordResetEmail({ to: email, url: verificationUrl(deps, code) }))
    },
    canSendEmail: () => deps.mail.is_enabled,

    /** The person a link is for; undefined if it is no longer valid. */
    verifying: readPendingVerification,

    /**
     * A user without a password chooses one here, and a user with a verified address may choose a new one. If someone else created the account
     * for this address through an invitation, the link alone does not verify it, because the password would still be the other person's.
     */
    async verify({ code, password, is_local }: Omit<SignInAttempt, 'email'> & { code: string }): Promise<RegistrationResult> {
      const known = await readPendingVerification(code)
      if (!known) return { gone: true }
      const signedIn = known.asks === 'own_password' ? await signIn({ email: known.email, password, is_local }) : undefined
      if (signedIn && !('session' in signedIn)) return signedIn
      const isPasswordChosen = known.asks === 'new_password' || (known.asks === 'other_password' && password !== '')
      const hash = isPasswordChosen ? await hashNewPassword(password, passwordCost) : undefined
      if (typeof hash === 'object') return hash
      return db.write((tx): RegistrationResult => {
        const user = findUserByVerificationCode(tx, code, now())
        if (!user) return { gone: true }
        const asks = verificationPromptOf(tx, user)
        updateUser(tx, user.id, { email_verified: 1 })
        deleteVerifications(tx, user.id)
        const isPasswordSet = hash !== undefined && asks === known.asks
        recordUserActivity(tx, now(), user, isPasswordSet ? 'password.set' : 'user.verified', user.account_id)
        // The state may have changed in the meantime.
        if (hash === undefined || asks !== known.asks) return signedIn ?? { session: null }
        setPassword(tx, { user_id: user.id, hash, created_at: now() }, '')
        return { session: createSession(tx, deps.clock, user.id) }
      })
    },

    async findInvitation(code: string): Promise<{ email: string; owner_email: string } | undefined> {
      return db.read((tx) => findInvitation(tx, hashSecret(code), now()))
    },

    /**
     * Joins as the user with that email and password. An invited address without a user gets an account with that password. The link does
     * not verify the address, because the inviter has seen it; only the owner of the instance can vouch for an address.
     */
    async acceptInvitation({ code, ...attempt }: SignInAttempt & { code: string }): Promise<RegistrationResult> {
      const email = attempt.email.trim().toLowerCase()
      const known = await db.read((tx) => ({ invitation: findInvitation(tx, hashSecret(code), now()), user: findUserByEmail(tx, email) }))
      if (!known.invitation) return { gone: true }
      if (known.user || email !== known.invitation.email) return joinTeamAs(await signIn(attempt), code)
      if (deps.settings.current().sign_up === 'off')
        return { refused: 'This instance accepts no new accounts. Sign in with an existing account, or ask its owner.' }
      const hash = await hashNewPassword(attempt.password, passwordCost)
      if (typeof hash === 'object') return hash
      const link = newSecret()
      const result = await db.write((tx): RegistrationResult & { is_new?: UserRow } => {
        const invitation = findInvitation(tx, hashSecret(code), now())
        if (!invitation) return { gone: true }
        if (findUserByEmail(tx, email)) return { wrong: true }
        const user = createUserWithAccount(deps, tx, email, invitation.owner_is_instance_owner)
        setPassword(tx, { user_id: user.id, hash, created_at: now() }, '')
        const { account_id } = joinTeam(tx, code, { user_id: user.id, account_id: user.account_id }, now())
        recordUserActivity(tx, now(), user, 'team.joined', account_id)
        if (user.email_verified === 0) insertVerification(tx, createVerificationRow(deps, user.id, link))
        return { session: createSession(tx, deps.clock, user.id), is_new: user }
      })
      if (result.is_new?.email_verified === 0) void deps.mail.send(verificationEmail({ to: email, url: verificationUrl(deps, link) }))
      return result
    },
  }

  async function joinTeamAs(signedIn: SignInResult, code: string): Promise<RegistrationResult> {
    if (!('session' in signedIn)) return signedIn
    const caller = await authenticator.bySession(signedIn.session.secret)
    if (!caller) return { wrong: true }
    try {
      await db.write((tx) => {
        const { account_id } = joinTeam(tx, code, caller, now())
        recordUserActivity(tx, now(), { id: caller.user_id, email: caller.email }, 'team.joined', account_id)
      })
      return signedIn
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      await db.write((tx) => deleteSession(tx, caller.credential_id))
      return error.code === 'invitation_not_found' ? { gone: true } : { refused: error.message }
    }
  }
}

/** What a person does on a page of the instance, without an operation of the API. */
function recordUserActivity(tx: Tx, now: string, user: Pick<UserRow, 'id' | 'email'>, action: ActivityAction, account_id: string): void {
  const { id, email } = user
  const actor = { actor_kind: 'user' as const, actor_id: id, actor_name: email, user_id: id, user_email: email, via: 'dashboard' as const }
  recordActivity(tx, now, { action, ...actor, account_id, target_id: id, target_name: email })
}

export type RegistrationUseCases = ReturnType<typeof createRegistration>

export function createVerificationHandlers(deps: FeatureDeps): Pick<OperationHandlers, 'createVerificationLink' | 'sendVerification'> {
  const { db } = deps.store
  return {
    async createVerificationLink(_context, { body }) {
      const code = newSecret()
      const created = await db.write((tx) => {
        const user = findUserByEmail(tx, body.email) ?? createUserWithAccount(deps, tx, body.email, 0)
        const link = createVerificationRow(deps, user.id, code)
        replaceVerification(tx, link)
        return { user, expires_at: link.expires_at }
      })
      const url = verificationUrl(deps, code)
      const was_sent = await deps.mail.send(verificationEmail({ to: body.email, url }))
      return { user: presentUser(created.user), url, expires_at: created.expires_at, was_sent }
    },

    async sendVerification({ caller }) {
      if (caller.email_verified) return { was_sent: false, message: 'Your email address is already verified.' }
      if (!deps.mail.is_enabled)
        return { was_sent: false, message: 'This instance sends no email. Ask its owner for a link, which they can create in the list of people.' }
      const code = newSecret()
      const isAllowed = await db.write((tx) => {
        deleteUnverifiedUsers(tx, isoTime(deps.clock.now()))
        if (countVerifications(tx, caller.user_id) >= verificationLimits.per_user) return false
        insertVerification(tx, createVerificationRow(deps, caller.user_id, code))
        return true
      })
      if (!isAllowed)
        return {
          was_sent: false,
          message: `${verificationLimits.per_user} links were already sent to ${caller.email}. They are valid for 7 days. Check your inbox.`,
        }
      const was_sent = await deps.mail.send(verificationEmail({ to: caller.email, url: verificationUrl(deps, code) }))
      return { was_sent, message: was_sent ? `Sent the link to ${caller.email}.` : 'The mail server did not accept the email. Try again later.' }
    },
  }
}

/** Creates an account on starter with a trial of pro. */
function createUserWithAccount({ clock }: Pick<FeatureDeps, 'clock'>, tx: Tx, email: string, email_verified: 0 | 1): UserRow {
  const created_at = isoTime(clock.now())
  const account = {
    id: newId('acc'),
    plan: 'starter' as const,
    has_payment_method: 0 as const,
    trial_ends_at: isoTime(clock.now() + trialOffer.days * 24 * 3600_000),
    created_at,
  }
  const user: UserRow = { id: newId('usr'), account_id: account.id, email, email_verified, is_instance_owner: 0, created_at }
  insertUserWithAccount(tx, { account, user })
  return user
}

const createVerificationRow = ({ clock }: Pick<FeatureDeps, 'clock'>, user_id: string, code: string) => ({
  hash: hashSecret(code),
  user_id,
  expires_at: isoTime(clock.now() + verificationLifetime_ms),
})

const verificationUrl = (deps: RegistrationDeps, code: string) => `${linkOrigin(deps)}/verify?code=${code}`

/** Only the owner of the instance and `requestPasswordReset` create links for verified addresses. */
function verificationPromptOf(tx: Tx, user: UserRow): VerificationPrompt {
  if (findPassword(tx, user.id) === undefined) return 'new_password'
  if (user.email_verified === 0) return 'own_password'
  return user.is_instance_owner ? 'nothing' : 'other_password'
}

function findUserByVerificationCode(tx: Tx, code: string, now: string): UserRow | undefined {
  const found = findVerification(tx, hashSecret(code), now)
  return found && findUser(tx, found.user_id)
}

async function hashNewPassword(password: string, cost?: PasswordCost): Promise<string | { refused: string } | { wait_s: number }> {
  if (password.length < minPasswordLength || password.length > 200) return { refused: `Choose a password of ${minPasswordLength} to 200 characters.` }
  try {
    return await hashPassword(password, cost)
  } catch (error) {
    if (error instanceof PasswordQueueFullError) return { wait_s: 5 }
    throw error
  }
}
