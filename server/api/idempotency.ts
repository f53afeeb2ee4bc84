import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { IdempotencyRecord, IdempotentResponse, IdempotencyStore, IdempotencyKey, Tx } from '../features/idempotency-store.ts'
import type { Log } from '../lib/log.ts'
import { jsonResponse, errorResponse } from './response.ts'
import type { ApiResponse } from './response.ts'
import { headerValues } from './http-request.ts'

/** The properties by which two requests count as equal. An operation and its alias are the same. */
export interface IdempotentRequest {
  account_id: string
  user_id: string
  request_id: string
  operation: string
  params: Record<string, string>
  /** The ID of the project or domain in the path, because another project may get the same slug later. */
  resource: string | undefined
  query: string
  body: Buffer
  /** The operation stores its response in the transaction of its work. */
  is_atomic: boolean
  /** For uploads: the bytes, read only to compare them with the first request. */
  upload: (() => AsyncIterable<Uint8Array>) | undefined
}

/** A request with an idempotency key. */
export interface KeyedRequest {
  /** The stored response if the same request was completed before. Access to the resource must be checked first. */
  replay(): Promise<ApiResponse | undefined>
  /** Throws if the key is malformed. */
  validateKey(): void
  /** Hashes an upload while it is passed to the handler. */
  hashBody(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Stores the response of an atomic operation in the transaction of its work. */
  storeInTransaction(tx: Tx, answer: ApiResponse): void
  /** Runs the operation. It calls `beforeHandler` once the request is validated, and returns the response that this yields, if any. */
  runOnce(run: (beforeHandler: BeforeHandler) => Promise<ApiResponse>): Promise<ApiResponse>
}

export type BeforeHandler = () => Promise<ApiResponse | undefined>

/** Statuses that are stored. Other errors changed nothing and leave the key free, so that the request can be retried. */
const isFinalStatus = (status: number) => status < 300 || status === 402 || status === 409

const hasIdempotencyKey = (req: IncomingMessage) => req.method === 'POST' && headerValues(req, 'idempotency-key').length > 0

/** Requests with the same key of the same account run once within 24 hours. Later ones wait for the first and get its response. */
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
        throw idempotencyConflict('This Idempotency-Key was already used for another request. Use a new key for each request.')
      if (!answer)
        throw idempotencyConflict(
          'The first request with this Idempotency-Key was interrupted by a crash, so its outcome is unknown. Check the current state, then use a new key.',
        )
      if (request.upload) {
        content = createHash('sha256')
        for await (const chunk of request.upload()) content.update(chunk)
      }
      if (storedFingerprint === fingerprint()) return replayResponse(answer, request.request_id)
      throw idempotencyConflict('This Idempotency-Key was already used with another body. Use a new key for each request.')
    }

    /** Claims the key when no other request has it. There is no await between the check and the claim. */
    const claimKey = async (): Promise<{ finish: () => void } | { answer: ApiResponse }> => {
      const name = `${keyRef.account_id} ${keyRef.key}`
      for (let other = activeKeys.get(name); other; other = activeKeys.get(name)) {
        if (other.head !== requestHash)
          throw idempotencyConflict('Another request with this Idempotency-Key is in progress. Use a new key for each request.')
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
          // An atomic operation that a crash interrupts leaves nothing behind, so nothing must be recorded.
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

    /** The work is done, so a failure to store the response is only logged. */
    const recordOutcome = async (answer: ApiResponse) => {
      if (isStored && answer.status < 300) return
      const body = answer.body ?? ''
      const storable = isFinalStatus(answer.status) && typeof body === 'string' ? { status: answer.status, headers: answer.headers, body } : undefined
      try {
        await (storable ? store.saveResponse(keyRef, fingerprint(), storable) : store.release(keyRef))
      } catch (error) {
        log.error('idempotent_response_store_failed', { request_id: request.request_id, error })
      }
    }

    return {
      async replay() {
        if (!isKeyValid) return undefined
        const found = await store.find(keyRef)
        // A record without a response is in progress or was interrupted. That is reported after validation.
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
        const message = `Use one key of 1 to ${limits.idempotency.key.max} printable ASCII characters.`
        throw new Problem('invalid_input', `The Idempotency-Key is invalid. ${message}`, { issues: [{ path: 'Idempotency-Key', message }] })
      },

      async *hashBody(chunks) {
        for await (const chunk of chunks) {
          content.update(chunk)
          yield chunk
        }
      },

      storeInTransaction(tx, { status, headers, body }) {
        if (typeof body !== 'string') throw new Error('a stored response must be text')
        store.saveResponseInTransaction(tx, keyRef, fingerprint(), { status, headers, body })
        isStored = true
      },

      async runOnce(run) {
        let releaseClaim: (() => void) | undefined
        const beforeHandler: BeforeHandler = async () => {
          if (isConflict) throw idempotencyConflict('This Idempotency-Key was already used for another request. Use a new key for each request.')
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

/** A replayed error has the ID of the current request, like its header. */
function replayResponse({ status, headers, body }: IdempotentResponse, requestId: string): ApiResponse {
  const replayedHeader = { 'idempotency-replayed': 'true' }
  if (status >= 400) return jsonResponse(status, { ...(JSON.parse(body) as object), request_id: requestId }, replayedHeader)
  return { status, headers: { ...headers, ...replayedHeader }, body: status === 204 ? null : body }
}

const isValidKey = (key: string) => key.length >= limits.idempotency.key.min && key.length <= limits.idempotency.key.max && /^[\x20-\x7e]+$/.test(key)

const idempotencyConflict = (message: string) => new Problem('idempotency_conflict', message)

const digest = (parts: string[]) => createHash('sha256').update(parts.join('\0')).digest('hex')
