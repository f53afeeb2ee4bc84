import type { OperationId } from '../contract/index.ts'
import { ApiError, readError } from './api-error.ts'
import type { CallInput, CallOutput, OperationRoutes } from './operation-types.ts'

/** A request of the client, for the transport of its environment. */
export interface TransportRequest {
  method: string
  /** Path and query below the address of the instance. */
  path: string
  headers: Record<string, string>
  body: string | AsyncIterable<Uint8Array> | null
  signal: AbortSignal | undefined
}

export interface ClientOptions {
  routes: OperationRoutes
  /** Sends a request; rejects when there is no response. Must not follow redirects, which would carry credentials to another server. */
  send(request: TransportRequest): Promise<Response>
  /** The error for a request without a response. */
  toUnreachable(cause: unknown): ApiError
  /** Receives every error response before the caller does. */
  onError?(error: ApiError): void
}

interface RequestExtras {
  headers?: Record<string, string>
  body?: AsyncIterable<Uint8Array>
}

/** Typed calls of the API's operations; the command line, the dashboard and the tests differ only in how they send. */
export interface OperationClient {
  /** Calls an operation and returns its JSON. Throws an ApiError, or the abort reason of the signal. */
  call<Id extends OperationId>(id: Id, input: CallInput<Id>, extras?: RequestExtras): Promise<CallOutput<Id>>
  /** Calls an operation and returns its successful response, for files and streams. */
  open<Id extends OperationId>(id: Id, input: CallInput<Id>, extras?: RequestExtras): Promise<Response>
  /** Path and query of a call. */
  pathOf<Id extends OperationId>(id: Id, input: CallInput<Id>): string
}

export function createOperationClient({ routes, send, toUnreachable, onError }: ClientOptions): OperationClient {
  const open: OperationClient['open'] = async (id, input, extras = {}) => {
    const { method, path } = formatRequest(routes[id], input)
    const headers: Record<string, string> = {
      // Session requests need this content type also without a body, because an HTML form cannot send it (CSRF protection).
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      ...(input.idempotency_key === undefined ? {} : { 'idempotency-key': input.idempotency_key }),
      ...extras.headers,
    }
    const body = extras.body ?? (input.body === undefined ? null : JSON.stringify(input.body))
    const response = await send({ method, path, headers, body, signal: input.signal }).catch((error: unknown) => {
      if (input.signal?.aborted && !isTimeout(input.signal.reason)) throw error
      throw toUnreachable(error)
    })
    if (response.ok) return response
    const error = await readError(response)
    onError?.(error)
    throw error
  }

  return {
    open,
    async call<Id extends OperationId>(id: Id, input: CallInput<Id>, extras?: RequestExtras) {
      const response = await open(id, input, extras)
      // The instance builds the response from the same operation record, so the type holds.
      return (response.status === 204 ? undefined : await response.json()) as CallOutput<Id>
    },
    pathOf: (id, input) => formatRequest(routes[id], input).path,
  }
}

const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError'

function formatRequest(route: string, input: { params?: unknown; query?: Record<string, unknown> | undefined }): { method: string; path: string } {
  const [method = 'GET', template = '/'] = route.split(' ')
  const params = new Map<string, unknown>(Object.entries(input.params ?? {}))
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodePathSegment(String(params.get(name))))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) query.set(name, String(value))
  return { method, path: `${path}${query.size > 0 ? `?${query}` : ''}` }
}

/** Rejects `.` and `..`, which the URL parser would resolve. */
function encodePathSegment(text: string): string {
  if (/^\.{1,2}$/.test(text)) throw new ApiError('bad_answer', `“${text}” is not a valid name.`)
  return encodeURIComponent(text)
}
