import type { ErrorEnvelope } from '../contract/errors.ts'
import { allOperations, type OperationId, type Operations } from '../contract/index.ts'
import type { OperationClientInput, OperationSpec, HandlerOutput } from '../contract/operation.ts'
import { readEventStream, type ServerSentEvent } from '../client/event-stream.ts'
import { sendHttpRequest } from './http-request.ts'

/** An error response of the instance. `code` and `request_id` come from the error envelope of the contract. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly request_id: string
  readonly issues: { path: string; message: string }[]
  constructor(status: number, envelope: Partial<ErrorEnvelope>, requestId: string) {
    super(envelope.message ?? `The instance responded with status ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.code = envelope.error ?? `http_${status}`
    this.request_id = envelope.request_id ?? requestId
    this.issues = envelope.issues ?? []
  }
}

/** Nothing responds at the address of the instance. */
export class InstanceUnreachableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'InstanceUnreachableError'
  }
}

type OptionalIfEmpty<T, Name extends string> = Record<never, never> extends T ? { [K in Name]?: T } : { [K in Name]: T }
export type OperationInput<Id extends OperationId> = OptionalIfEmpty<OperationClientInput<Operations[Id]>['params'], 'params'> &
  OptionalIfEmpty<OperationClientInput<Operations[Id]>['query'], 'query'> &
  (undefined extends OperationClientInput<Operations[Id]>['body'] ? { body?: undefined } : { body: OperationClientInput<Operations[Id]>['body'] })

export interface ApiClient {
  readonly url: string
  /** Rejects after `timeout_ms`. */
  call<Id extends OperationId>(id: Id, input: OperationInput<Id>, timeout_ms?: number): Promise<HandlerOutput<Operations[Id]>>
  /** Streams a file to the instance. There is no timeout; `signal` aborts the upload. */
  upload<Id extends 'uploadProject' | 'importDatabase'>(
    id: Id,
    slug: string,
    archive: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<HandlerOutput<Operations[Id]>>
  /** Streams a file from the instance. There is no timeout; reading throws if the connection is lost. */
  download<Id extends OperationId>(id: Id, input: OperationInput<Id>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Yields the events of a stream until `end` or `signal`. A lost connection is resumed with Last-Event-ID. `onOpen` runs on every (re)connect. */
  stream<Id extends OperationId>(id: Id, input: OperationInput<Id>, signal?: AbortSignal, onOpen?: () => void): AsyncGenerator<ServerSentEvent>
}

const defaultTimeout_ms = 30_000
/** A stream fails after this many reconnects in a row without an event. */
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
      // A redirect is an error, because following it would send the token to another server.
      response = await sendHttpRequest(url, {
        method: spec.method,
        headers,
        body: extra.archive ?? (input.body === undefined ? undefined : JSON.stringify(input.body)),
        signal: extra.signal,
      })
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') throw error
      throw new InstanceUnreachableError(
        `Homeport does not respond at ${baseUrl}${describeCause(error)}. If it is not running, start it with: homeport serve`,
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
      // The server builds the response from the same operation record, so the type holds.
      return (response.status === 204 ? undefined : await response.json()) as HandlerOutput<Operations[Id]>
    },

    async upload<Id extends 'uploadProject' | 'importDatabase'>(id: Id, slug: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal) {
      const response = await requestOperation(id, { params: { slug } }, { signal, archive })
      return (await response.json()) as HandlerOutput<Operations[Id]>
    },

    async download(id, input, signal) {
      const { body } = await requestOperation(id, input, { signal })
      if (!body) throw new InstanceUnreachableError('The instance responded without a file.')
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
          // Only lost connections are retried: an error response would be the same again.
          if (error instanceof ApiError || (error instanceof InstanceUnreachableError && lastId === undefined)) throw error
        }
        if (signal.aborted) return
      }
      throw new InstanceUnreachableError('The connection was lost and could not be restored.')
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
