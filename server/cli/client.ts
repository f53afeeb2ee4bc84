import type { ErrorEnvelope } from '../contract/errors.ts'
import { allOperations, type OperationId, type Operations } from '../contract/index.ts'
import type { OperationClientInput, OperationSpec, HandlerOutput } from '../contract/operation.ts'
import { readEventStream, type ServerSentEvent } from '../client/event-stream.ts'
import { sendHttpRequest } from './http-request.ts'

/** The instance said no. `code` and `request_id` as in the envelope of the contract. */
export class ApiError extends Error {
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
export class InstanceUnreachableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'NotReachable'
  }
}

type OptionalIfEmpty<T, Name extends string> = Record<never, never> extends T ? { [K in Name]?: T } : { [K in Name]: T }
export type OperationInput<Id extends OperationId> = OptionalIfEmpty<OperationClientInput<Operations[Id]>['params'], 'params'> &
  OptionalIfEmpty<OperationClientInput<Operations[Id]>['query'], 'query'> &
  (undefined extends OperationClientInput<Operations[Id]>['body'] ? { body?: undefined } : { body: OperationClientInput<Operations[Id]>['body'] })

export interface ApiClient {
  readonly url: string
  /** `patience`: how long it may take, in ms. */
  call<Id extends OperationId>(id: Id, input: OperationInput<Id>, timeout_ms?: number): Promise<HandlerOutput<Operations[Id]>>
  /** Sends a file as it is made. It takes as long as it takes; `signal` ends it. */
  upload<Id extends 'uploadProject' | 'importDatabase'>(
    id: Id,
    slug: string,
    archive: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<HandlerOutput<Operations[Id]>>
  /** A file as it comes in. It takes as long as it takes; one that is cut off throws while it is read. */
  download<Id extends OperationId>(id: Id, input: OperationInput<Id>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** The events of a stream; after a cut it goes on where it was, `end` or `signal` ends it. `onOpen`: it has begun, again after a cut. */
  stream<Id extends OperationId>(id: Id, input: OperationInput<Id>, signal?: AbortSignal, onOpen?: () => void): AsyncGenerator<ServerSentEvent>
}

const defaultTimeout_ms = 30_000
/** A stream that is cut this often without a single event in between is given up. */
const maxReconnects = 5

export function createApiClient(options: { url: string; token: string | undefined }): ApiClient {
  const baseUrl = options.url.replace(/\/+$/, '')

  async function requestOperation(
    id: OperationId,
    input: UntypedInput,
    extra: { headers?: Record<string, string>; signal: AbortSignal; archive?: AsyncIterable<Uint8Array> },
  ): Promise<Response> {
    const spec: OperationSpec = allOperations[id]
    const path = spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(toText(input.params?.[name])))
    const url = new URL(baseUrl + path)
    for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) url.searchParams.set(name, toText(value))
    const headers: Record<string, string> = { ...extra.headers }
    if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`
    if (input.body !== undefined) headers['content-type'] = 'application/json'
    if (extra.archive) headers['content-type'] = id === 'uploadProject' ? 'application/gzip' : 'application/octet-stream'
    let response: Response
    try {
      // A redirect would carry the token elsewhere: it counts as a refusal.
      response = await sendHttpRequest(url, {
        method: spec.method,
        headers,
        body: extra.archive ?? (input.body === undefined ? undefined : JSON.stringify(input.body)),
        signal: extra.signal,
      })
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') throw error
      throw new InstanceUnreachableError(
        `Homeport does not answer at ${baseUrl}${describeCause(error)}. Is it running? Start it with: homeport serve`,
        error,
      )
    }
    if (response.ok) return response
    throw new ApiError(response.status, await readErrorEnvelope(response), response.headers.get('x-request-id') ?? '')
  }

  return {
    url: baseUrl,

    async call<Id extends OperationId>(id: Id, input: OperationInput<Id>, timeout_ms = defaultTimeout_ms): Promise<HandlerOutput<Operations[Id]>> {
      const response = await requestOperation(id, input, { signal: AbortSignal.timeout(timeout_ms) })
      // The contract says what comes; the same record made the answer on the other side.
      return (response.status === 204 ? undefined : await response.json()) as HandlerOutput<Operations[Id]>
    },

    async upload<Id extends 'uploadProject' | 'importDatabase'>(id: Id, slug: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal) {
      const response = await requestOperation(id, { params: { slug } }, { signal, archive })
      return (await response.json()) as HandlerOutput<Operations[Id]>
    },

    async download(id, input, signal) {
      const { body } = await requestOperation(id, input, { signal })
      if (!body) throw new InstanceUnreachableError('The instance answered without the file.')
      return body
    },

    async *stream<Id extends OperationId>(
      id: Id,
      input: OperationInput<Id>,
      signal: AbortSignal = new AbortController().signal,
      onOpen?: () => void,
    ) {
      let lastId: string | undefined
      for (let reconnects = 0; reconnects < maxReconnects; reconnects++) {
        if (reconnects > 0) await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** reconnects))
        try {
          const response = await requestOperation(id, input, {
            headers: { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
            signal,
          })
          onOpen?.()
          if (!response.body) return
          for await (const event of readEventStream(response.body)) {
            reconnects = 0
            if (event.id !== undefined) lastId = event.id
            yield event
            if (event.event === 'end') return
          }
        } catch (error) {
          if (signal.aborted) return
          // A refusal stays one; only a cut line is worth another try.
          if (error instanceof ApiError || (error instanceof InstanceUnreachableError && lastId === undefined)) throw error
        }
        if (signal.aborted) return
      }
      throw new InstanceUnreachableError('The stream was cut and could not be taken up again.')
    },
  }
}

const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

interface UntypedInput {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

async function readErrorEnvelope(response: Response): Promise<Partial<ErrorEnvelope>> {
  try {
    const body: unknown = await response.json()
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return ' in time'
  return 'code' in error ? ` (${String(error.code)})` : ''
}
