import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { IdempotencyRecord, IdempotentResponse, IdempotencyStore, IdempotencyKey, Tx } from '../features/idempotency-store.ts'
import type { Log } from '../lib/log.ts'
import { jsonResponse, errorResponse } from './response.ts'
import type { ApiResponse } from './response.ts'
import { headerValues } from './http-request.ts'

/** What makes two requests the same. An operation is the same at its alias. */
export interface IdempotentRequest {
  account_id: string
  user_id: string
  request_id: string
  operation: string
  params: Record<string, string>
  /** The id of the project or domain that the path names: another project may get the slug. */
  resource: string | undefined
  query: string
  body: Buffer
  /** What it does, it does together with the keeping of its answer. */
  is_atomic: boolean
  /** Of an operation that takes a file: its bytes, read for nothing else than to compare them. */
  upload: (() => AsyncIterable<Uint8Array>) | undefined
}

/** A request that bears an idempotency key, on its way to the operation. */
export interface KeyedRequest {
  /** The first answer, when this very request was answered before. The caller may see what the path names: that is checked before. */
  replay(): Promise<ApiResponse | undefined>
  /** Throws when the key is none. */
  validateKey(): void
  /** A file on its way to the handler, hashed as it goes. */
  hashBody(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Keeps the answer of an atomic operation in the transaction of its work. */
  storeInTransaction(tx: Tx, answer: ApiResponse): void
  /** Runs the operation, which calls `begin` when all that can be refused of a request itself is checked, and answers what that returns. */
  runOnce(run: (beforeHandler: BeforeHandler) => Promise<ApiResponse>): Promise<ApiResponse>
}

export type BeforeHandler = () => Promise<ApiResponse | undefined>

/** What an operation decided. Every other refusal has done nothing and leaves the key free; after a 5xx it is worth another try. */
const isFinalStatus = (status: number) => status < 300 || status === 402 || status === 409

export const hasIdempotencyKey = (req: IncomingMessage) => req.method === 'POST' && headerValues(req, 'idempotency-key').length > 0

/** The same key by the same account does its work once within 24 hours: whoever comes second waits for the first, and gets its answer. */
export function createIdempotency(store: IdempotencyStore, log: Log) {
  const activeKeys = new Map<string, { head: string; done: Promise<void> }>()

  return function openKeyedRequest(req: IncomingMessage, request: IdempotentRequest): KeyedRequest | undefined {
    if (!hasIdempotencyKey(req)) return undefined
    const values = headerValues(req, 'idempotency-key')
    const keyRef: IdempotencyKey = { account_id: request.account_id, key: values[0] ?? '' }
    const isKeyValid = values.length === 1 && isValidKey(keyRef.key)
    const requestHash = digest([request.user_id, request.operation, JSON.stringify(request.params), request.resource ?? '', request.query])
    let content = createHash('sha256').update(request.body)
    const fingerprint = () => `${requestHash} ${content.copy().digest('hex')}`
    let isConflict = false
    let isStored = false

    const replayIfSame = async ({ fingerprint: storedFingerprint, response: answer }: IdempotencyRecord): Promise<ApiResponse> => {
      if (!storedFingerprint.startsWith(`${requestHash} `))
        throw idempotencyConflict('Another request was made with this Idempotency-Key. Give each request a key of its own.')
      if (!answer)
        throw idempotencyConflict(
          'The first request with this Idempotency-Key was cut off by a crash, and whether it was done is not known. Look, and go on with a new key.',
        )
      if (request.upload) {
        content = createHash('sha256')
        for await (const chunk of request.upload()) content.update(chunk)
      }
      if (storedFingerprint === fingerprint()) return replayResponse(answer, request.request_id)
      throw idempotencyConflict('Another body was sent with this Idempotency-Key. Give each request a key of its own.')
    }

    /** Takes the key for this request, when nobody else has it. Nothing is awaited between the look and the taking. */
    const claimKey = async (): Promise<{ finish: () => void } | { answer: ApiResponse }> => {
      const name = `${keyRef.account_id} ${keyRef.key}`
      for (let other = activeKeys.get(name); other; other = activeKeys.get(name)) {
        if (other.head !== requestHash)
          throw idempotencyConflict('Another request is under way with this Idempotency-Key. Give each request a key of its own.')
        await other.done
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      activeKeys.set(name, { head: requestHash, done: promise })
      const releaseClaim = () => {
        activeKeys.delete(name)
        resolve()
      }
      try {
        const found = await store.find(keyRef)
        if (!found) {
          // An atomic one that a crash cuts off has left nothing behind, so nothing has to be noted.
          if (!request.is_atomic) await store.begin(keyRef, fingerprint())
          return { finish: releaseClaim }
        }
        const answer = await replayIfSame(found)
        releaseClaim()
        return { answer }
      } catch (error) {
        releaseClaim()
        throw error
      }
    }

    /** The work is done: that its answer could not be kept must not hide that from the client. */
    const recordOutcome = async (answer: ApiResponse) => {
      if (isStored && answer.status < 300) return
      const body = answer.body ?? ''
      const storable = isFinalStatus(answer.status) && typeof body === 'string' ? { status: answer.status, headers: answer.headers, body } : undefined
      try {
        await (storable ? store.saveResponse(keyRef, fingerprint(), storable) : store.release(keyRef))
      } catch (error) {
        log.error('answer_not_kept', { request_id: request.request_id, error })
      }
    }

    return {
      async replay() {
        if (!isKeyValid) return undefined
        const found = await store.find(keyRef)
        // One without an answer is under way, or was cut off: that is told when the request itself is in order.
        if (!found?.response) return undefined
        try {
          return await replayIfSame(found)
        } catch (error) {
          if (!(error instanceof Problem) || error.code !== 'idempotency_conflict') throw error
          isConflict = true
          return undefined
        }
      },

      validateKey() {
        if (isKeyValid) return
        const message = `Give one key of 1 to ${limits.idempotency.key.max} printable ASCII characters.`
        throw new Problem('invalid_input', `The Idempotency-Key is not in order. ${message}`, { issues: [{ path: 'Idempotency-Key', message }] })
      },

      async *hashBody(chunks) {
        for await (const chunk of chunks) {
          content.update(chunk)
          yield chunk
        }
      },

      storeInTransaction(tx, { status, headers, body }) {
        if (typeof body !== 'string') throw new Error('an answer that is kept is text')
        store.saveResponseInTransaction(tx, keyRef, fingerprint(), { status, headers, body })
        isStored = true
      },

      async runOnce(run) {
        let releaseClaim: (() => void) | undefined
        const beforeHandler: BeforeHandler = async () => {
          if (isConflict) throw idempotencyConflict('Another request was made with this Idempotency-Key. Give each request a key of its own.')
          const claim = await claimKey()
          if ('answer' in claim) return claim.answer
          releaseClaim = claim.finish
          return undefined
        }
        try {
          const answer = await run(beforeHandler)
          if (releaseClaim) await recordOutcome(answer)
          return answer
        } catch (error) {
          if (releaseClaim) await recordOutcome(error instanceof Problem ? errorResponse(error, request.request_id) : jsonResponse(500, {}))
          throw error
        } finally {
          releaseClaim?.()
        }
      },
    }
  }
}

export type Idempotency = ReturnType<typeof createIdempotency>

/** A refusal names the request at hand, as its header does. */
function replayResponse({ status, headers, body }: IdempotentResponse, requestId: string): ApiResponse {
  const replayedHeader = { 'idempotency-replayed': 'true' }
  if (status >= 400) return jsonResponse(status, { ...(JSON.parse(body) as object), request_id: requestId }, replayedHeader)
  return { status, headers: { ...headers, ...replayedHeader }, body: status === 204 ? null : body }
}

const isValidKey = (key: string) => key.length >= limits.idempotency.key.min && key.length <= limits.idempotency.key.max && /^[\x20-\x7e]+$/.test(key)

const idempotencyConflict = (message: string) => new Problem('idempotency_conflict', message)

const digest = (parts: string[]) => createHash('sha256').update(parts.join('\0')).digest('hex')
