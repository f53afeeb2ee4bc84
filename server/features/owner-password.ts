import { randomInt } from 'node:crypto'
import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { hashPassword, PasswordQueueFullError } from '../lib/password.ts'
import { isSameSecret } from '../lib/token.ts'
import { findInstanceOwner } from '../store/users.ts'
import { setPassword } from '../store/passwords.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type OwnerPasswordHandlers = Pick<OperationHandlers, 'createSetupCode' | 'setOwnerPassword'>

const setupCodeLifetime_ms = 15 * 60_000
/** Wrong guesses after which a code is invalid. */
const maxGuesses = 5
/** Without easily confused characters. 10 characters are 48 bits. */
const setupCodeAlphabet = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'

export const ownerPasswordRequired = () =>
  new Problem(
    'owner_password_required',
    'The owner has no password yet. Set one with homeport password or POST /instance/password, then open the network.',
  )

/** The owner's password for signing in from other devices. Setting it from another machine needs a code from this machine. */
export function createOwnerPasswordHandlers(deps: FeatureDeps): OwnerPasswordHandlers {
  const { clock } = deps
  const { db } = deps.store
  let setup: { code: string; expiresAt_ms: number; guesses: number } | undefined

  /** A code is consumed by its first use. */
  function consumeSetupCode(submitted: string | undefined): void {
    if (setup && setup.expiresAt_ms <= clock.monotonic()) setup = undefined
    if (submitted !== undefined && setup && isSameSecret(submitted.toUpperCase().replace(/[\s-]/g, ''), setup.code)) {
      setup = undefined
      return
    }
    if (submitted !== undefined && setup && ++setup.guesses >= maxGuesses) setup = undefined
    throw new Problem(
      'forbidden',
      submitted === undefined
        ? 'Setting the password from another machine needs a setup code. Run “homeport password --code” on the machine of the instance and send the code as setup_code.'
        : 'This setup code is wrong, was already used or has expired. Create a new one on the machine of the instance: homeport password --code',
    )
  }

  return {
    async createSetupCode({ is_local }) {
      if (!is_local)
        throw new Problem('forbidden', 'A setup code is available only on the machine of the instance. Run there: homeport password --code')
      const code = Array.from({ length: 10 }, () => setupCodeAlphabet[randomInt(setupCodeAlphabet.length)]).join('')
      setup = { code, expiresAt_ms: clock.monotonic() + setupCodeLifetime_ms, guesses: 0 }
      return { setup_code: `${code.slice(0, 5)}-${code.slice(5)}`, expires_at: isoTime(clock.now() + setupCodeLifetime_ms) }
    },

    async setOwnerPassword({ caller, is_local }, { body }) {
      if (!is_local) consumeSetupCode(body.setup_code)
      const hash = await hashPassword(body.password).catch((error: unknown) => {
        if (error instanceof PasswordQueueFullError)
          throw new Problem('rate_limited', 'Too many sign-ins are in progress. Try again in 5 s.', { retry_after_s: 5 })
        throw error
      })
      await db.write((tx) => {
        const owner = findInstanceOwner(tx)
        if (!owner) throw new Problem('forbidden', 'This instance has no owner.')
        setPassword(tx, { user_id: owner.id, hash, created_at: isoTime(clock.now()) }, caller.credential_id)
      })
      return { ok: true }
    },
  }
}
