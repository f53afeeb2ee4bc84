import { limits } from '../contract/limits.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { deleteUnansweredIdempotencyKey, deleteIdempotencyKeysBefore, findIdempotencyKey, putIdempotencyKey } from '../store/idempotency-keys.ts'
import type { Db, Tx } from '../store/open.ts'
import type { Sealer } from '../store/sealed.ts'
import type { IdempotencyRow } from '../store/tables.ts'

export type { Tx } from '../store/open.ts'

/** Whose key it is, and what it is. */
export interface KeyOf {
  account_id: string
  key: string
}

export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** What is remembered of the first request with a key. `answer` is missing while it is under way, or when it was cut off. */
export interface Kept {
  fingerprint: string
  answer: KeptAnswer | undefined
}

/** First answers to requests with an idempotency key, for 24 hours. */
export interface KeptAnswers {
  find(of: KeyOf): Promise<Kept | undefined>
  /** Notes, durably, that a request begins. The gate sees to it that one does at a time. */
  begin(of: KeyOf, fingerprint: string): Promise<void>
  keep(of: KeyOf, fingerprint: string, answer: KeptAnswer): Promise<void>
  /** The same in the transaction of the work, so that a crash keeps both or neither. */
  keepWithin(tx: Tx, of: KeyOf, fingerprint: string, answer: KeptAnswer): void
  /** The key is free again, unless an answer was kept with the work. */
  release(of: KeyOf): Promise<void>
  /** Forgets those that are too old. */
  sweep(): Promise<void>
}

export function createKeptAnswers({ db, sealer, clock }: { db: Db; sealer: Sealer; clock: Clock }): KeptAnswers {
  // An answer may hold a token, and what is asked a password that a plain digest would let be guessed: both are sealed.
  const placeOf = (of: KeyOf, column: string) => ({ table: 'idempotency_keys', column, row: `${of.account_id} ${of.key}` })
  const sealFingerprint = (of: KeyOf, text: string) => Buffer.from(sealer.seal(placeOf(of, 'fingerprint'), text)).toString('base64')
  const oldest = () => isoTime(clock.now() - limits.idempotency.kept_ms)

  const open = (row: IdempotencyRow | undefined): Kept | undefined => {
    if (!row || row.created_at <= oldest()) return undefined
    const { status, headers, sealed_body } = row
    const fingerprint = sealer.unseal(placeOf(row, 'fingerprint'), Buffer.from(row.fingerprint, 'base64'))
    if (status === null || headers === null || sealed_body === null) return { fingerprint, answer: undefined }
    const body = sealer.unseal(placeOf(row, 'sealed_body'), sealed_body)
    return { fingerprint, answer: { status, headers: JSON.parse(headers) as Record<string, string>, body } }
  }

  const keepWithin: KeptAnswers['keepWithin'] = (tx, of, fingerprint, { status, headers, body }) =>
    putIdempotencyKey(tx, {
      ...of,
      fingerprint: sealFingerprint(of, fingerprint),
      status,
      headers: JSON.stringify(headers),
      sealed_body: sealer.seal(placeOf(of, 'sealed_body'), body),
      created_at: isoTime(clock.now()),
    })

  return {
    find: async (of) => open(await db.read((tx) => findIdempotencyKey(tx, of))),

    begin: (of, fingerprint) =>
      db.write((tx) => {
        const created_at = isoTime(clock.now())
        putIdempotencyKey(tx, { ...of, fingerprint: sealFingerprint(of, fingerprint), status: null, headers: null, sealed_body: null, created_at })
      }),

    keep: (of, fingerprint, answer) => db.write((tx) => keepWithin(tx, of, fingerprint, answer)),
    keepWithin,
    release: (of) => db.write((tx) => deleteUnansweredIdempotencyKey(tx, of)),
    sweep: () => db.write((tx) => deleteIdempotencyKeysBefore(tx, oldest())),
  }
}
