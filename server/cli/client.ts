import type { ErrorEnvelope } from '../contract/errors.ts'
import { allOperations, type OperationId, type Operations } from '../contract/index.ts'
import type { ClientInput, OperationSpec, Output } from '../contract/operation.ts'
import { readEvents, type ReceivedEvent } from './event-reader.ts'
import { send } from './send.ts'

/** The instance said no. `code` and `request_id` as in the envelope of the contract. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly request_id: string
  readonly issues: { path: string; message: string }[]
  constructor(status: number, envelope: Partial<ErrorEnvelope>, requestId: string) {
    super(envelope.message ?? `The instance answered ${status}.`)
    this.name = 'Refusal'
    this.status = status
    this.code = envelope.error ?? `http_${status}`
    this.request_id = envelope.request_id ?? requestId
    this.issues = envelope.issues ?? []
  }
}

/** Nobody answers at the address. */
export class NotReachable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'NotReachable'
  }
}

type IfEmpty<T, Name extends string> = Record<never, never> extends T ? { [K in Name]?: T } : { [K in Name]: T }
export type CallInput<Id extends OperationId> = IfEmpty<ClientInput<Operations[Id]>['params'], 'params'> &
  IfEmpty<ClientInput<Operations[Id]>['query'], 'query'> &
  (undefined extends ClientInput<Operations[Id]>['body'] ? { body?: undefined } : { body: ClientInput<Operations[Id]>['body'] })

export interface Client {
  readonly url: string
  /** `patience`: how long it may take, in ms. */
  call<Id extends OperationId>(id: Id, input: CallInput<Id>, patience?: number): Promise<Output<Operations[Id]>>
  /** Sends a file as it is made. It takes as long as it takes; `signal` ends it. */
  upload<Id extends 'uploadProject' | 'importDatabase'>(
    id: Id,
    slug: string,
    archive: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Output<Operations[Id]>>
  /** A file as it comes in. It takes as long as it takes; one that is cut off throws while it is read. */
  download<Id extends OperationId>(id: Id, input: CallInput<Id>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** The events of a stream; after a cut it goes on where it was, `end` or `signal` ends it. `onOpen`: it has begun, again after a cut. */
  stream<Id extends OperationId>(id: Id, input: CallInput<Id>, signal?: AbortSignal, onOpen?: () => void): AsyncGenerator<ReceivedEvent>
}

const patience_ms = 30_000
/** A stream that is cut this often without a single event in between is given up. */
const maxCuts = 5

export function createClient(options: { url: string; token: string | undefined }): Client {
  const base = options.url.replace(/\/+$/, '')

  async function ask(
    id: OperationId,
    input: LooseInput,
    more: { headers?: Record<string, string>; signal: AbortSignal; archive?: AsyncIterable<Uint8Array> },
  ): Promise<Response> {
    const spec: OperationSpec = allOperations[id]
    const path = spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(input.params?.[name])))
    const url = new URL(base + path)
    for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) url.searchParams.set(name, textOf(value))
    const headers: Record<string, string> = { ...more.headers }
    if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`
    if (input.body !== undefined) headers['content-type'] = 'application/json'
    if (more.archive) headers['content-type'] = id === 'uploadProject' ? 'application/gzip' : 'application/octet-stream'
    let answer: Response
    try {
      // A redirect would carry the token elsewhere: it counts as a refusal.
      answer = await send(url, {
        method: spec.method,
        headers,
        body: more.archive ?? (input.body === undefined ? undefined : JSON.stringify(input.body)),
        signal: more.signal,
      })
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') throw error
      throw new NotReachable(`Homeport does not answer at ${base}${reasonOf(error)}. Is it running? Start it with: homeport serve`, error)
    }
    if (answer.ok) return answer
    throw new Refusal(answer.status, await envelopeOf(answer), answer.headers.get('x-request-id') ?? '')
  }

  return {
    url: base,

    async call<Id extends OperationId>(id: Id, input: CallInput<Id>, patience = patience_ms): Promise<Output<Operations[Id]>> {
      const answer = await ask(id, input, { signal: AbortSignal.timeout(patience) })
      // The contract says what comes; the same record made the answer on the other side.
      return (answer.status === 204 ? undefined : await answer.json()) as Output<Operations[Id]>
    },

    async upload<Id extends 'uploadProject' | 'importDatabase'>(id: Id, slug: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal) {
      const answer = await ask(id, { params: { slug } }, { signal, archive })
      return (await answer.json()) as Output<Operations[Id]>
    },

    async download(id, input, signal) {
      const { body } = await ask(id, input, { signal })
      if (!body) throw new NotReachable('The instance answered without the file.')
      return body
    },

    async *stream<Id extends OperationId>(id: Id, input: CallInput<Id>, signal: AbortSignal = new AbortController().signal, onOpen?: () => void) {
      let lastId: string | undefined
      for (let cuts = 0; cuts < maxCuts; cuts++) {
        if (cuts > 0) await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** cuts))
        try {
          const answer = await ask(id, input, {
            headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
            signal,
          })
          onOpen?.()
          for await (const event of readEvents(answer)) {
            cuts = 0
            if (event.id !== undefined) lastId = event.id
            yield event
            if (event.event === 'end') return
          }
        } catch (error) {
          if (signal.aborted) return
          // A refusal stays one; only a cut line is worth another try.
          if (error instanceof Refusal || (error instanceof NotReachable && lastId === undefined)) throw error
        }
        if (signal.aborted) return
      }
      throw new NotReachable('The stream was cut and could not be taken up again.')
    },
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

interface LooseInput {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

async function envelopeOf(answer: Response): Promise<Partial<ErrorEnvelope>> {
  try {
    const body: unknown = await answer.json()
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return ' in time'
  return 'code' in error ? ` (${String(error.code)})` : ''
}
