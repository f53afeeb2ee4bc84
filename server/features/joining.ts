import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashPassword, type PasswordCost, PasswordsBusy } from '../lib/password.ts'
import { hashSecret, newSecret } from '../lib/token.ts'
import {
  addVerification,
  countVerifications,
  findInvitation,
  findVerification,
  removeNeverCame,
  removeVerifications,
  setVerification,
} from '../store/invitations.ts'
import type { Tx } from '../store/open.ts'
import { findPassword, setPassword } from '../store/passwords.ts'
import { findUser, findUserByEmail, insertPerson, removeSession, updateUser } from '../store/people.ts'
import type { UserRow } from '../store/tables.ts'
import { type Authenticator, newSession } from './authenticate.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { forgottenLetter, hereAlreadyLetter, linkBase, verificationLetter } from './letters.ts'
import { trial } from './plans.ts'
import { presentUser } from './present.ts'
import type { Attempt, SignedIn } from './sign-in.ts'
import { joinTeam } from './team.ts'

type JoiningDeps = Pick<FeatureDeps, 'store' | 'clock' | 'settings' | 'mail' | 'lan' | 'instance'>
type Session = { secret: string; max_age_s: number }
/** What a link that proves an address takes beside. */
type Asks = 'nothing' | 'new_password' | 'own_password' | 'other_password'
/** `gone`: the link is not good any more. `refused`: a sentence for the person. */
export type Entered = { session: Session | null } | { gone: true } | { refused: string } | { wrong: true } | { wait_s: number }

const life_ms = 7 * 24 * 3600_000
/** Links that are good for one person at once, beyond which no further letter goes out; and for all, beyond which nobody new is taken. */
const maxLinks = { of_one: 3, of_all: 1000 }
const shortest = 10

/**
 * How somebody new comes in: by an address that a link proves, or by an invitation. A password is chosen where the link leads and
 * not before it: whoever asks for an account in the name of another gets nothing.
 */
export function createJoining(
  deps: JoiningDeps,
  signIn: (attempt: Attempt) => Promise<SignedIn>,
  authenticator: Authenticator,
  passwordCost?: PasswordCost,
) {
  const { db } = deps.store
  const now = () => isoTime(deps.clock.now())

  const verifying = (code: string) =>
    db.read((tx) => {
      const user = userOf(tx, code, now())
      if (!user) return undefined
      return { email: user.email, asks: asksOf(tx, user) }
    })

  return {
    mode: () => deps.settings.current().sign_up,

    /** The same for every address: what is known of it goes by mail alone. */
    async signUp(email: string): Promise<void> {
      const code = newSecret()
      const found = await db.write((tx) => {
        removeNeverCame(tx, now())
        const user = findUserByEmail(tx, email)
        if (user ? user.email_verified === 1 : countVerifications(tx) >= maxLinks.of_all) return user
        const asking = user ?? newPerson(deps, tx, email, 0)
        if (countVerifications(tx, asking.id) >= maxLinks.of_one) return undefined
        addVerification(tx, verification(deps, asking.id, code))
        return asking
      })
      if (!found || found.is_instance_owner) return
      // Not waited for: how long a mail server takes would tell what was found.
      void deps.mail.send(
        found.email_verified
          ? hereAlreadyLetter({ to: email, url: `${linkBase(deps)}/sign-in` })
          : verificationLetter({ to: email, url: verifyUrl(deps, code) }),
      )
    },

    /** A letter with which another password is chosen. The same for every address, too; the owner of the instance has the machine for that. */
    async forgot(email: string): Promise<void> {
      if (!deps.mail.is_on) return
      const code = newSecret()
      const found = await db.write((tx) => {
        removeNeverCame(tx, now())
        const user = findUserByEmail(tx, email)
        if (!user || asksOf(tx, user) !== 'other_password' || countVerifications(tx, user.id) >= maxLinks.of_one) return false
        addVerification(tx, verification(deps, user.id, code))
        return true
      })
      if (found) void deps.mail.send(forgottenLetter({ to: email, url: verifyUrl(deps, code) }))
    },
    sends_mail: () => deps.mail.is_on,

    /** Whom a link is for; undefined when it is not good any more. */
    verifying,

    /**
     * Whoever has none chooses a password here, and whoever has proved the address before may choose another one. An account that somebody else made for this address, by an
     * invitation that they had seen, is not proved by whoever owns the address alone: its password would still be the other's.
     */
    async verify({ code, password, is_local }: Omit<Attempt, 'email'> & { code: string }): Promise<Entered> {
      const known = await verifying(code)
      if (!known) return { gone: true }
      const signedIn = known.asks === 'own_password' ? await signIn({ email: known.email, password, is_local }) : undefined
      if (signedIn && !('session' in signedIn)) return signedIn
      const isChosen = known.asks === 'new_password' || (known.asks === 'other_password' && password !== '')
      const hash = isChosen ? await hashed(password, passwordCost) : undefined
      if (typeof hash === 'object') return hash
      return db.write((tx): Entered => {
        const user = userOf(tx, code, now())
        if (!user) return { gone: true }
        const asks = asksOf(tx, user)
        updateUser(tx, user.id, { email_verified: 1 })
        removeVerifications(tx, user.id)
        // What was asked may have changed meanwhile.
        if (hash === undefined || asks !== known.asks) return signedIn ?? { session: null }
        setPassword(tx, { user_id: user.id, hash, created_at: now() }, '')
        return { session: newSession(tx, deps.clock, user.id) }
      })
    },

    async invited(code: string): Promise<{ email: string; owner_email: string } | undefined> {
      return db.read((tx) => findInvitation(tx, hashSecret(code), now()))
    },

    /**
     * Joins as who has that address and password; the invited address, while nobody has it, gets an account with that password.
     * The link does not prove the address, as the inviter has seen it: only the owner of the instance vouches for one.
     */
    async join({ code, ...attempt }: Attempt & { code: string }): Promise<Entered> {
      const email = attempt.email.trim().toLowerCase()
      const known = await db.read((tx) => ({ invitation: findInvitation(tx, hashSecret(code), now()), user: findUserByEmail(tx, email) }))
      if (!known.invitation) return { gone: true }
      if (known.user || email !== known.invitation.email) return joinAs(await signIn(attempt), code)
      if (deps.settings.current().sign_up === 'off')
        return { refused: 'This instance takes nobody new. Sign in with an account that is here, or ask its owner.' }
      const hash = await hashed(attempt.password, passwordCost)
      if (typeof hash === 'object') return hash
      const link = newSecret()
      const entered = await db.write((tx): Entered & { is_new?: UserRow } => {
        const invitation = findInvitation(tx, hashSecret(code), now())
        if (!invitation) return { gone: true }
        if (findUserByEmail(tx, email)) return { wrong: true }
        const user = newPerson(deps, tx, email, invitation.owner_is_instance_owner)
        setPassword(tx, { user_id: user.id, hash, created_at: now() }, '')
        joinTeam(tx, code, { user_id: user.id, account_id: user.account_id }, now())
        if (user.email_verified === 0) addVerification(tx, verification(deps, user.id, link))
        return { session: newSession(tx, deps.clock, user.id), is_new: user }
      })
      if (entered.is_new?.email_verified === 0) void deps.mail.send(verificationLetter({ to: email, url: verifyUrl(deps, link) }))
      return entered
    },
  }

  async function joinAs(signedIn: SignedIn, code: string): Promise<Entered> {
    if (!('session' in signedIn)) return signedIn
    const caller = await authenticator.bySession(signedIn.session.secret)
    if (!caller) return { wrong: true }
    try {
      await db.write((tx) => joinTeam(tx, code, caller, now()))
      return signedIn
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      await db.write((tx) => removeSession(tx, caller.credential_id))
      return error.code === 'invitation_not_found' ? { gone: true } : { refused: error.message }
    }
  }
}

export type Joining = ReturnType<typeof createJoining>

export function createVerificationHandlers(deps: FeatureDeps): Pick<Handlers<Context>, 'createVerificationLink' | 'sendVerification'> {
  const { db } = deps.store
  return {
    async createVerificationLink(_context, { body }) {
      const code = newSecret()
      const made = await db.write((tx) => {
        const user = findUserByEmail(tx, body.email) ?? newPerson(deps, tx, body.email, 0)
        const link = verification(deps, user.id, code)
        setVerification(tx, link)
        return { user, expires_at: link.expires_at }
      })
      const url = verifyUrl(deps, code)
      const was_sent = await deps.mail.send(verificationLetter({ to: body.email, url }))
      return { user: presentUser(made.user), url, expires_at: made.expires_at, was_sent }
    },

    async sendVerification({ caller }) {
      if (caller.email_verified) return { was_sent: false, message: 'Your address is verified already.' }
      if (!deps.mail.is_on)
        return { was_sent: false, message: 'This instance sends no mail. Ask its owner for the link: it is made in the list of people.' }
      const code = newSecret()
      const may = await db.write((tx) => {
        removeNeverCame(tx, isoTime(deps.clock.now()))
        if (countVerifications(tx, caller.user_id) >= maxLinks.of_one) return false
        addVerification(tx, verification(deps, caller.user_id, code))
        return true
      })
      if (!may) return { was_sent: false, message: `${maxLinks.of_one} links were sent to ${caller.email}, and are good for 7 days. Look there.` }
      const was_sent = await deps.mail.send(verificationLetter({ to: caller.email, url: verifyUrl(deps, code) }))
      return { was_sent, message: was_sent ? `The link is on its way to ${caller.email}.` : 'The mail server did not take it. Try again later.' }
    },
  }
}

/** A new account begins on starter, with some days of pro to try. */
function newPerson({ clock }: Pick<FeatureDeps, 'clock'>, tx: Tx, email: string, email_verified: 0 | 1): UserRow {
  const created_at = isoTime(clock.now())
  const account = {
    id: newId('acc'),
    plan: 'starter' as const,
    has_payment_method: 0 as const,
    trial_ends_at: isoTime(clock.now() + trial.days * 24 * 3600_000),
    created_at,
  }
  const user: UserRow = { id: newId('usr'), account_id: account.id, email, email_verified, is_instance_owner: 0, created_at }
  insertPerson(tx, { account, user })
  return user
}

const verification = ({ clock }: Pick<FeatureDeps, 'clock'>, user_id: string, code: string) => ({
  hash: hashSecret(code),
  user_id,
  expires_at: isoTime(clock.now() + life_ms),
})

const verifyUrl = (deps: JoiningDeps, code: string) => `${linkBase(deps)}/verify?code=${code}`

/** Only the owner of the instance, and `forgot`, make links to an address that is proved already. */
function asksOf(tx: Tx, user: UserRow): Asks {
  if (findPassword(tx, user.id) === undefined) return 'new_password'
  if (user.email_verified === 0) return 'own_password'
  return user.is_instance_owner ? 'nothing' : 'other_password'
}

function userOf(tx: Tx, code: string, now: string): UserRow | undefined {
  const found = findVerification(tx, hashSecret(code), now)
  return found && findUser(tx, found.user_id)
}

async function hashed(password: string, cost?: PasswordCost): Promise<string | { refused: string } | { wait_s: number }> {
  if (password.length < shortest || password.length > 200)
    return { refused: `Choose a password of at least ${shortest} characters, and at most 200.` }
  try {
    return await hashPassword(password, cost)
  } catch (error) {
    if (error instanceof PasswordsBusy) return { wait_s: 5 }
    throw error
  }
}
