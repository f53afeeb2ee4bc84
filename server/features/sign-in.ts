import { type Clock } from '../lib/clock.ts'
import { isPassword, PasswordsBusy } from '../lib/password.ts'
import type { Db } from '../store/open.ts'
import { findPasswordByEmail } from '../store/passwords.ts'
import { newSession } from './authenticate.ts'

export interface Attempt {
  email: string
  password: string
  /** From this machine: never kept waiting by what others try over the network. */
  is_local: boolean
}

/** `wait_s`: too many wrong ones before; not even looked at. */
export type SignedIn = { session: { secret: string; max_age_s: number } } | { wrong: true } | { wait_s: number }

/** Wrong passwords in a row before the next has to wait; then 1 s, doubled each time. */
const freeTries = 5
const longestWait_s = 60
const maxAccounts = 10_000

/** Sign-in by address and password. Who has no password and who is not there at all get the same answer, after the same work. */
export function createPasswordSignIn(options: {
  db: Db
  clock: Clock
  /** In place of the expensive comparison. */
  compare?: typeof isPassword
}): (attempt: Attempt) => Promise<SignedIn> {
  const { db, clock, compare = isPassword } = options
  /** By address, known here or not: only known ones would tell who is. */
  const tries = new Map<string, { count: number; until: number }>()

  /** Counts a try as a wrong one until it turns out right, so that many at once are no way round. Seconds to wait, or 0. */
  function begin(email: string): number {
    const now = clock.monotonic()
    const before = tries.get(email) ?? { count: 0, until: 0 }
    if (before.until > now) return Math.ceil((before.until - now) / 1000)
    tries.delete(email)
    tries.set(email, { count: before.count + 1, until: 0 })
    holdUp(email)
    const oldest = tries.keys().next().value
    if (tries.size > maxAccounts && oldest !== undefined) tries.delete(oldest)
    return 0
  }

  /** The wait begins when the answer is given: the look at a password may take longer than it. */
  function holdUp(email: string): void {
    const tried = tries.get(email)
    if (tried && tried.count >= freeTries) tried.until = clock.monotonic() + Math.min(2 ** (tried.count - freeTries), longestWait_s) * 1000
  }

  return async function signIn({ email: typed, password, is_local }) {
    const email = typed.trim().toLowerCase()
    const wait_s = is_local ? 0 : begin(email)
    if (wait_s > 0) return { wait_s }
    const known = await db.read((tx) => findPasswordByEmail(tx, email))
    try {
      if (!(await compare(password, known?.hash, is_local ? 'near' : 'far')) || known === undefined) {
        if (!is_local) holdUp(email)
        return { wrong: true }
      }
    } catch (error) {
      if (error instanceof PasswordsBusy) return { wait_s: 5 }
      throw error
    }
    if (!is_local) tries.delete(email)
    const session = await db.write((tx) => {
      // Changed while it was looked at: the old one is no good any more.
      if (findPasswordByEmail(tx, email)?.hash !== known.hash) return undefined
      return newSession(tx, clock, known.user_id)
    })
    return session ? { session } : { wrong: true }
  }
}
