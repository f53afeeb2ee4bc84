/** Sign-in by password over a real store, with a clock that the test moves. */
import { randomBytes, scryptSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthenticator } from '../../server/features/authenticator.ts'
import { bootstrapInstance } from '../../server/features/bootstrap-instance.ts'
import { createPasswordSignIn } from '../../server/features/password-sign-in.ts'
import { newId } from '../../server/lib/id.ts'
import { hashPassword, verifyPassword } from '../../server/lib/password.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { setPassword } from '../../server/store/passwords.ts'
import { insertUserWithAccount } from '../../server/store/users.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { fixedClock } from '../support/test-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-password-'))
const password = 'correct horse battery'
const email = 'owner@homeport.localhost'
const created_at = '2026-01-31T12:00:00.000Z'
const clock = fixedClock(created_at)
/** In the format of `hashPassword`, but compared in a millisecond. */
function cheapHash(text: string): string {
  const salt = randomBytes(16)
  return ['scrypt', 1024, 8, 1, salt.toString('base64'), scryptSync(text, salt, 32, { N: 1024, r: 8, p: 1 }).toString('base64')].join('$')
}
let store: Store

beforeAll(async () => {
  store = await openStore({ data_dir: folder, after_crash: false })
  const { owner } = await bootstrapInstance({ db: store.db, sealer: createSealer(randomBytes(32)), clock })
  const hash = cheapHash(password)
  await store.db.write((tx) => setPassword(tx, { user_id: owner.id, hash, created_at }, ''))
  const account = { id: newId('acc'), plan: 'starter' as const, has_payment_method: 0 as const, created_at }
  const user = {
    id: newId('usr'),
    account_id: account.id,
    email: 'plain@example.com',
    email_verified: 1 as const,
    is_instance_owner: 0 as const,
    created_at,
  }
  await store.db.write((tx) => insertUserWithAccount(tx, { account, user }))
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a password', () => {
  test('is stored as scrypt with its own salt, at 64 MB per attempt', async () => {
    const one = await hashPassword('the same password')
    expect(one).not.toBe(await hashPassword('the same password'))
    const [name, N, r, p, salt = '', key = ''] = one.split('$')
    expect([name, 128 * Number(N) * Number(r), Number(p)]).toEqual(['scrypt', 64 * 2 ** 20, 1])
    expect([Buffer.from(salt, 'base64').length, Buffer.from(key, 'base64').length]).toEqual([16, 32])
    expect(await verifyPassword('the same password', one, 'near')).toBe(true)
    expect(await verifyPassword('the same passwore', cheapHash('the same password'), 'near')).toBe(false)
    expect(await verifyPassword('', undefined, 'near')).toBe(false)
  })
  test('matches in composed and decomposed Unicode form', async () => {
    expect(await verifyPassword('cafe\u0301 au lait', cheapHash('caf\u00e9 au lait'), 'near')).toBe(true)
  })
  test('refuses attempts over the concurrency limit instead of queueing them', async () => {
    const kept = cheapHash(password)
    const all = Promise.allSettled(Array.from({ length: 40 }, () => verifyPassword('x', kept, 'far')))
    // Local sign-ins do not queue behind them.
    expect(await verifyPassword('x', kept, 'near')).toBe(false)
    expect((await all).filter((one) => one.status === 'rejected').length).toBe(24)
  })
})

describe('sign-in', () => {
  /** Compares instantly, because these tests are about the number of attempts. */
  const newSignIn = () => createPasswordSignIn({ db: store.db, clock, compare: async (given, kept) => kept !== undefined && given === password })
  const attempt = (given: string, more: { email?: string; is_local?: boolean } = {}) => ({ email, password: given, is_local: false, ...more })

  test('creates a valid session, whatever the case of the email address', async () => {
    const signIn = createPasswordSignIn({ db: store.db, clock })
    const result = await signIn(attempt(password, { email: ' OWNER@homeport.localhost ' }))
    const secret = 'session' in result ? result.session.secret : ''
    expect(await createAuthenticator({ db: store.db, clock }).bySession(secret)).toMatchObject({ email, via: 'session', is_instance_owner: true })
  })

  test.each([
    ['a wrong password', attempt('wrong')],
    ['an unknown address', attempt(password, { email: 'nobody@example.com' })],
    ['a user without a password', attempt('', { email: 'plain@example.com' })],
    ['empty fields', attempt('', { email: '' })],
  ])('%s is refused without saying which part was wrong', async (_, given) => {
    expect(await newSignIn()(given)).toEqual({ wrong: true })
  })

  test.each([email, 'nobody@example.com'])('five failures in a row for %s, then delays of 1, 2, 4 s', async (address) => {
    const signIn = newSignIn()
    const wrong = attempt('wrong', { email: address })
    for (let i = 0; i < 5; i++) expect(await signIn(wrong)).toEqual({ wrong: true })
    for (const wait_s of [1, 2, 4]) {
      expect(await signIn(wrong)).toEqual({ wait_s })
      // Not even the right password, because otherwise the delay would have no effect.
      expect(await signIn(attempt(password, { email: address }))).toEqual({ wait_s })
      await clock.advance(wait_s * 1000 - 1)
      expect(await signIn(wrong)).toEqual({ wait_s: 1 })
      await clock.advance(1)
      expect(await signIn(wrong)).toEqual({ wrong: true })
    }
    // This machine is never locked out, and does not shorten the delay of others.
    expect(await signIn(attempt(password, { is_local: true }))).toHaveProperty('session')
    expect(await signIn(wrong)).toEqual({ wait_s: 8 })
    // Another address is not delayed.
    expect(await signIn(attempt('wrong', { email: 'plain@example.com' }))).toEqual({ wrong: true })
    await clock.advance(60_000)
  })

  test('the delay is at most one minute, and a success resets it', async () => {
    const signIn = newSignIn()
    for (let i = 0; i < 13; i++) {
      expect(await signIn(attempt('wrong'))).toEqual({ wrong: true })
      await clock.advance(60_000)
    }
    expect(await signIn(attempt('wrong'))).toEqual({ wrong: true })
    expect(await signIn(attempt('wrong'))).toEqual({ wait_s: 60 })
    await clock.advance(60_000)
    expect(await signIn(attempt(password))).toHaveProperty('session')
    for (let i = 0; i < 5; i++) expect(await signIn(attempt('wrong'))).toEqual({ wrong: true })
    expect(await signIn(attempt('wrong'))).toEqual({ wait_s: 1 })
    await clock.advance(60_000)
  })

  test('concurrent guesses do not bypass the limit: five are checked', async () => {
    const signIn = newSignIn()
    const results = await Promise.all(Array.from({ length: 30 }, () => signIn(attempt('wrong'))))
    expect(results.filter((one) => 'wrong' in one).length).toBe(5)
  })
})
