import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { Kept, KeptAnswer, KeptAnswers, KeyOf, Tx } from '../features/kept-answers.ts'
import type { Log } from '../lib/log.ts'
import { json, refusal } from './respond.ts'
import type { Answer } from './respond.ts'
import { headerValues } from './transport.ts'

/** What makes two requests the same. An operation is the same at its alias. */
export interface Asking {
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
export interface Keyed {
  /** The first answer, when this very request was answered before. The caller may see what the path names: that is checked before. */
  replay(): Promise<Answer | undefined>
  /** Throws when the key is none. */
  check(): void
  /** A file on its way to the handler, hashed as it goes. */
  hashing(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Keeps the answer of an atomic operation in the transaction of its work. */
  keepWithin(tx: Tx, answer: Answer): void
  /** Runs the operation, which calls `begin` when all that can be refused of a request itself is checked, and answers what that returns. */
  around(run: (begin: Begin) => Promise<Answer>): Promise<Answer>
}

export type Begin = () => Promise<Answer | undefined>

/** What an operation decided. Every other refusal has done nothing and leaves the key free; after a 5xx it is worth another try. */
const isDecided = (status: number) => status < 300 || status === 402 || status === 409

export const hasKey = (req: IncomingMessage) => req.method === 'POST' && headerValues(req, 'idempotency-key').length > 0

/** The same key by the same account does its work once within 24 hours: whoever comes second waits for the first, and gets its answer. */
export function createIdempotency(book: KeptAnswers, log: Log) {
  const underWay = new Map<string, { head: string; done: Promise<void> }>()

  return function open(req: IncomingMessage, asking: Asking): Keyed | undefined {
    if (!hasKey(req)) return undefined
    const values = headerValues(req, 'idempotency-key')
    const of: KeyOf = { account_id: asking.account_id, key: values[0] ?? '' }
    const isGood = values.length === 1 && isKey(of.key)
    const head = digest([asking.user_id, asking.operation, JSON.stringify(asking.params), asking.resource ?? '', asking.query])
    let content = createHash('sha256').update(asking.body)
    const fingerprint = () => `${head} ${content.copy().digest('hex')}`
    let isOther = false
    let isKept = false

    const compare = async ({ fingerprint: first, answer }: Kept): Promise<Answer> => {
      if (!first.startsWith(`${head} `)) throw conflict('Another request was made with this Idempotency-Key. Give each request a key of its own.')
      if (!answer)
        throw conflict(
          'The first request with this Idempotency-Key was cut off by a crash, and whether it was done is not known. Look, and go on with a new key.',
        )
      if (asking.upload) {
        content = createHash('sha256')
        for await (const chunk of asking.upload()) content.update(chunk)
      }
      if (first === fingerprint()) return again(answer, asking.request_id)
      throw conflict('Another body was sent with this Idempotency-Key. Give each request a key of its own.')
    }

    /** Takes the key for this request, when nobody else has it. Nothing is awaited between the look and the taking. */
    const take = async (): Promise<{ finish: () => void } | { answer: Answer }> => {
      const name = `${of.account_id} ${of.key}`
      for (let other = underWay.get(name); other; other = underWay.get(name)) {
        if (other.head !== head) throw conflict('Another request is under way with this Idempotency-Key. Give each request a key of its own.')
        await other.done
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      underWay.set(name, { head, done: promise })
      const finish = () => {
        underWay.delete(name)
        resolve()
      }
      try {
        const found = await book.find(of)
        if (!found) {
          // An atomic one that a crash cuts off has left nothing behind, so nothing has to be noted.
          if (!asking.is_atomic) await book.begin(of, fingerprint())
          return { finish }
        }
        const answer = await compare(found)
        finish()
        return { answer }
      } catch (error) {
        finish()
        throw error
      }
    }

    /** The work is done: that its answer could not be kept must not hide that from the client. */
    const settle = async (answer: Answer) => {
      if (isKept && answer.status < 300) return
      const body = answer.body ?? ''
      const kept = isDecided(answer.status) && typeof body === 'string' ? { status: answer.status, headers: answer.headers, body } : undefined
      try {
        await (kept ? book.keep(of, fingerprint(), kept) : book.release(of))
      } catch (error) {
        log.error('answer_not_kept', { request_id: asking.request_id, error })
      }
    }

    return {
      async replay() {
        if (!isGood) return undefined
        const found = await book.find(of)
        // One without an answer is under way, or was cut off: that is told when the request itself is in order.
        if (!found?.answer) return undefined
        try {
          return await compare(found)
        } catch (error) {
          if (!(error instanceof Problem) || error.code !== 'idempotency_conflict') throw error
          isOther = true
          return undefined
        }
      },

      check() {
        if (isGood) return
        const message = `Give one key of 1 to ${limits.idempotency.key.max} printable ASCII characters.`
        throw new Problem('invalid_input', `The Idempotency-Key is not in order. ${message}`, { issues: [{ path: 'Idempotency-Key', message }] })
      },

      async *hashing(chunks) {
        for await (const chunk of chunks) {
          content.update(chunk)
          yield chunk
        }
      },

      keepWithin(tx, { status, headers, body }) {
        if (typeof body !== 'string') throw new Error('an answer that is kept is text')
        book.keepWithin(tx, of, fingerprint(), { status, headers, body })
        isKept = true
      },

      async around(run) {
        let finish: (() => void) | undefined
        const begin: Begin = async () => {
          if (isOther) throw conflict('Another request was made with this Idempotency-Key. Give each request a key of its own.')
          const taken = await take()
          if ('answer' in taken) return taken.answer
          finish = taken.finish
          return undefined
        }
        try {
          const answer = await run(begin)
          if (finish) await settle(answer)
          return answer
        } catch (error) {
          if (finish) await settle(error instanceof Problem ? refusal(error, asking.request_id) : json(500, {}))
          throw error
        } finally {
          finish?.()
        }
      },
    }
  }
}

export type Idempotency = ReturnType<typeof createIdempotency>

/** A refusal names the request at hand, as its header does. */
function again({ status, headers, body }: KeptAnswer, requestId: string): Answer {
  const mark = { 'idempotency-replayed': 'true' }
  if (status >= 400) return json(status, { ...(JSON.parse(body) as object), request_id: requestId }, mark)
  return { status, headers: { ...headers, ...mark }, body: status === 204 ? null : body }
}

const isKey = (key: string) => key.length >= limits.idempotency.key.min && key.length <= limits.idempotency.key.max && /^[\x20-\x7e]+$/.test(key)

const conflict = (message: string) => new Problem('idempotency_conflict', message)

const digest = (parts: string[]) => createHash('sha256').update(parts.join('\0')).digest('hex')
