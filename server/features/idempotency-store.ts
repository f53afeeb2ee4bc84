import { limits } from '../contract/limits.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { deletePendingIdempotencyKey, deleteIdempotencyKeysBefore, findIdempotencyKey, upsertIdempotencyKey } from '../store/idempotency-keys.ts'
import type { Db, Tx } from '../store/store.ts'
import type { Sealer } from '../store/sealer.ts'
import type { IdempotencyKeyRow } from '../store/tables.ts'

export type { Tx } from '../store/store.ts'

/** A key and its account. */
export interface IdempotencyKey {
  account_id: string
  key: string
}

export interface IdempotentResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** The record of the first request with a key. `response` is missing while it is in progress, or if it was interrupted. */
export interface IdempotencyRecord {
  fingerprint: string
  response: IdempotentResponse | undefined
}

/** Stores responses to requests with an idempotency key for 24 hours. */
export interface IdempotencyStore {
  find(idempotencyKey: IdempotencyKey): Promise<IdempotencyRecord | undefined>
  /** Durably records the start of a request. The API server runs one at a time per key. */
  begin(idempotencyKey: IdempotencyKey, fingerprint: string): Promise<void>
  saveResponse(idempotencyKey: IdempotencyKey, fingerprint: string, response: IdempotentResponse): Promise<void>
  /** Like `saveResponse`, in the transaction of the work, so that a crash keeps both or neither. */
  saveResponseInTransaction(tx: Tx, idempotencyKey: IdempotencyKey, fingerprint: string, response: IdempotentResponse): void
  /** Frees the key, unless a response was stored with the work. */
  release(idempotencyKey: IdempotencyKey): Promise<void>
  /** Deletes expired records. */
  deleteExpired(): Promise<void>
}

export function createIdempotencyStore({ db, sealer, clock }: { db: Db; sealer: Sealer; clock: Clock }): IdempotencyStore {
  // Both are encrypted: a response may contain a token, and a plain digest of a request would allow guessing a password in it.
  const encryptionContextOf = (idempotencyKey: IdempotencyKey, column: string) => ({
    table: 'idempotency_keys',
    column,
    row: `${idempotencyKey.account_id} ${idempotencyKey.key}`,
  })
  const sealFingerprint = (idempotencyKey: IdempotencyKey, text: string) =>
    Buffer.from(sealer.seal(encryptionContextOf(idempotencyKey, 'fingerprint'), text)).toString('base64')
  const expiryCutoff = () => isoTime(clock.now() - limits.idempotency.retention_ms)

  const decryptRecord = (row: IdempotencyKeyRow | undefined): IdempotencyRecord | undefined => {
    if (!row || row.created_at <= expiryCutoff()) return undefined
    const { status, headers, sealed_body } = row
    const fingerprint = sealer.unseal(encryptionContextOf(row, 'fingerprint'), Buffer.from(row.fingerprint, 'base64'))
    if (status === null || headers === null || sealed_body === null) return { fingerprint, response: undefined }
    const body = sealer.unseal(encryptionContextOf(row, 'sealed_body'), sealed_body)
    return { fingerprint, response: { status, headers: JSON.parse(headers) as Record<string, string>, body } }
  }

  const saveResponseInTransaction: IdempotencyStore['saveResponseInTransaction'] = (tx, idempotencyKey, fingerprint, { status, headers, body }) =>
    upsertIdempotencyKey(tx, {
      ...idempotencyKey,
      fingerprint: sealFingerprint(idempotencyKey, fingerprint),
      status,
      headers: JSON.stringify(headers),
      sealed_body: sealer.seal(encryptionContextOf(idempotencyKey, 'sealed_body'), body),
      created_at: isoTime(clock.now()),
    })

  return {
    find: async (idempotencyKey) => decryptRecord(await db.read((tx) => findIdempotencyKey(tx, idempotencyKey))),

    begin: (idempotencyKey, fingerprint) =>
      db.write((tx) => {
        const created_at = isoTime(clock.now())
        upsertIdempotencyKey(tx, {
          ...idempotencyKey,
          fingerprint: sealFingerprint(idempotencyKey, fingerprint),
          status: null,
          headers: null,
          sealed_body: null,
          created_at,
        })
      }),

    saveResponse: (idempotencyKey, fingerprint, response) => db.write((tx) => saveResponseInTransaction(tx, idempotencyKey, fingerprint, response)),
    saveResponseInTransaction,
    release: (idempotencyKey) => db.write((tx) => deletePendingIdempotencyKey(tx, idempotencyKey)),
    deleteExpired: () => db.write((tx) => void deleteIdempotencyKeysBefore(tx, expiryCutoff())),
  }
}
