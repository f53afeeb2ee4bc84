import { type Clock, isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newSecret } from '../lib/token.ts'
import type { Db, Tx } from '../store/store.ts'
import { isCredentialActive, findSignInCode, insertSession, insertSignInCode, consumeSignInCode } from '../store/users.ts'
import type { Caller } from './context.ts'
import { effectivePlan } from './plans.ts'
import { type CallerRow, findCallerBySession, findCallerByToken, recordTokenUse, type TokenCallerRow } from '../store/credentials.ts'

/** Authenticates tokens and sessions. Only hashes are stored, so the lookup by hash is the comparison. */
export interface Authenticator {
  byToken(token: string): Promise<Caller | undefined>
  bySession(secret: string): Promise<Caller | undefined>
  /** Redeems a one-time code for a session; undefined if it is wrong, used or expired. */
  redeemSignInCode(code: string): Promise<{ secret: string; max_age_s: number } | undefined>
  /** The person a one-time code is for. */
  findSignInCode(code: string): Promise<{ email: string; is_instance_owner: boolean } | undefined>
  isCredentialActive(id: string): Promise<boolean>
}

const sessionLifetime_s = 30 * 24 * 3600
/** `last_used_at` is accurate to a minute, because a write per request would be expensive. */
const lastUsedInterval_ms = 60_000

export function createAuthenticator(options: { db: Db; clock: Clock }): Authenticator {
  const { db, clock } = options
  const lastUsed = new Map<string, number>()

  const noteTokenUse = (id: string) => {
    const now = clock.now()
    if (now - (lastUsed.get(id) ?? 0) < lastUsedInterval_ms) return
    if (lastUsed.size > 10_000) lastUsed.clear()
    lastUsed.set(id, now)
    // A busy database must not prevent authentication.
    void db.write((tx) => recordTokenUse(tx, id, isoTime(now))).catch(() => lastUsed.delete(id))
  }

  /** Callers by token, valid until the next write to the database, because the lookup is a large part of a small request. */
  let callerCache = { version: db.dataVersion(), byHash: new Map<string, TokenCallerRow>() }

  const findCallerByTokenHash = async (hash: string): Promise<TokenCallerRow | undefined> => {
    if (callerCache.version !== db.dataVersion()) callerCache = { version: db.dataVersion(), byHash: new Map() }
    const cached = callerCache.byHash.get(hash)
    if (cached) return cached
    const { version, row } = await db.read((tx) => ({ version: db.dataVersion(), row: findCallerByToken(tx, hash) }))
    if (row && version === callerCache.version) callerCache.byHash.set(hash, row)
    return row
  }

  return {
    async byToken(token) {
      const row = await findCallerByTokenHash(hashSecret(token))
      if (!row || (row.expires_at !== null && row.expires_at <= isoTime(clock.now()))) return undefined
      noteTokenUse(row.credential_id)
      const { scope, project_id } = row
      return { ...toCaller(row, 'token', clock.now()), scope, project_id }
    },

    async bySession(secret) {
      const row = await db.read((tx) => findCallerBySession(tx, hashSecret(secret)))
      if (!row || row.expires_at === null || row.expires_at <= isoTime(clock.now())) return undefined
      return toCaller(row, 'session', clock.now())
    },

    async redeemSignInCode(code) {
      return db.write((tx) => {
        const redeemed = consumeSignInCode(tx, hashSecret(code), isoTime(clock.now()))
        return redeemed && createSession(tx, clock, redeemed.user_id)
      })
    },

    findSignInCode: (code) => db.read((tx) => findSignInCode(tx, hashSecret(code), isoTime(clock.now()))),

    isCredentialActive: (id) => db.read((tx) => isCredentialActive(tx, id, isoTime(clock.now()))),
  }
}

/** Creates a one-time sign-in code with a lifetime. Only its hash is stored. */
export async function createSignInCode(
  { db, clock }: { db: Db; clock: Clock },
  user_id: string,
  lifetime_ms: number,
): Promise<{ code: string; expires_at: string }> {
  const code = newSecret()
  const expires_at = isoTime(clock.now() + lifetime_ms)
  await db.write((tx) => insertSignInCode(tx, { hash: hashSecret(code), user_id, expires_at }))
  return { code, expires_at }
}

/** Creates a session of a browser or a script. Only the hash of its secret is stored. */
export function createSession(tx: Tx, clock: Clock, user_id: string): { secret: string; max_age_s: number } {
  const secret = newSecret()
  const now = clock.now()
  insertSession(tx, {
    id: newId('ses'),
    user_id,
    hash: hashSecret(secret),
    expires_at: isoTime(now + sessionLifetime_s * 1000),
    created_at: isoTime(now),
  })
  return { secret, max_age_s: sessionLifetime_s }
}

function toCaller(row: CallerRow, via: Caller['via'], now_ms: number): Caller {
  const { credential_id, user_id, account_id, email } = row
  return {
    user_id,
    account_id,
    email,
    email_verified: row.email_verified === 1,
    plan: effectivePlan(row, now_ms),
    is_instance_owner: row.is_instance_owner === 1,
    via,
    credential_id,
    scope: null,
    project_id: null,
  }
}
