import { type Clock } from '../lib/clock.ts'
import { verifyPassword, PasswordQueueFullError } from '../lib/password.ts'
import type { Db } from '../store/store.ts'
import { findPasswordByEmail } from '../store/passwords.ts'
import { createSession } from './authenticator.ts'

export interface SignInAttempt {
  email: string
  password: string
  /** From this machine; failed attempts over the network do not delay it. */
  is_local: boolean
}

/** `wait_s`: too many failed attempts; the password was not checked. */
export type SignInResult = { session: { secret: string; max_age_s: number } } | { wrong: true } | { wait_s: number }

/** Failed attempts in a row before a delay of 1 s, which doubles each time. */
const maxUndelayedAttempts = 5
const maxWait_s = 60
const maxTrackedAddresses = 10_000

/** Sign-in by email and password. Unknown users and users without a password get the same response after the same work. */
export function createPasswordSignIn(options: {
  db: Db
  clock: Clock
  /** Replaces the expensive comparison in tests. */
  compare?: typeof verifyPassword
}): (attempt: SignInAttempt) => Promise<SignInResult> {
  const { db, clock, compare = verifyPassword } = options
  /** Keyed by email, whether known or not, so that the delay does not reveal which are known. */
  const failedAttempts = new Map<string, { count: number; blockedUntil_ms: number }>()

  /** Counts an attempt as failed until it succeeds, so that concurrent attempts do not bypass the limit. Returns the seconds to wait, or 0. */
  function countAttempt(email: string): number {
    const now = clock.monotonic()
    const previous = failedAttempts.get(email) ?? { count: 0, blockedUntil_ms: 0 }
    if (previous.blockedUntil_ms > now) return Math.ceil((previous.blockedUntil_ms - now) / 1000)
    failedAttempts.delete(email)
    failedAttempts.set(email, { count: previous.count + 1, blockedUntil_ms: 0 })
    applyBackoff(email)
    const oldest = failedAttempts.keys().next().value
    if (failedAttempts.size > maxTrackedAddresses && oldest !== undefined) failedAttempts.delete(oldest)
    return 0
  }

  /** The delay starts after the check, because the check may take longer than the delay. */
  function applyBackoff(email: string): void {
    const entry = failedAttempts.get(email)
    if (entry && entry.count >= maxUndelayedAttempts)
      entry.blockedUntil_ms = clock.monotonic() + Math.min(2 ** (entry.count - maxUndelayedAttempts), maxWait_s) * 1000
  }

  return async function signIn({ email: enteredEmail, password, is_local }) {
    const email = enteredEmail.trim().toLowerCase()
    const wait_s = is_local ? 0 : countAttempt(email)
    if (wait_s > 0) return { wait_s }
    const stored = await db.read((tx) => findPasswordByEmail(tx, email))
    try {
      if (!(await compare(password, stored?.hash, is_local ? 'near' : 'far')) || stored === undefined) {
        if (!is_local) applyBackoff(email)
        return { wrong: true }
      }
    } catch (error) {
      if (error instanceof PasswordQueueFullError) return { wait_s: 5 }
      throw error
    }
    if (!is_local) failedAttempts.delete(email)
    const session = await db.write((tx) => {
      // The password was changed during the check, so the old one is no longer valid.
      if (findPasswordByEmail(tx, email)?.hash !== stored.hash) return undefined
      return createSession(tx, clock, stored.user_id)
    })
    return session ? { session } : { wrong: true }
  }
}
