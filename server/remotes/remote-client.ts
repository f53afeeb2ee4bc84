import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { allOperations, type OperationId } from '../contract/index.ts'
import type { EventStream, OperationSpec } from '../contract/operation.ts'
import { Problem } from '../contract/errors.ts'
import { type Clock, timeoutSignal } from '../lib/clock.ts'
import { maskToken } from './sanitize.ts'
import { createRequestSender, type LookupAddresses } from './send-request.ts'
import { readRemoteEvents } from './event-stream.ts'
import { parseOrigin } from './origin.ts'
import { validateHead, quoteExcerpt, readResponseBody, readJson, readErrorBody, readContentType, createUnreachableProblem } from './read-response.ts'

/** Another instance and the API token for it. */
interface RemoteTarget {
  id: string
  origin: string
  token: string
}

/** A call of an operation on another instance. Parameters and query are values, never a path. */
export interface RemoteCall {
  operation: OperationId
  params: Record<string, string>
  query: URLSearchParams
  /** The caller's headers that are forwarded. */
  headers: { type?: string | undefined; length?: string | undefined; last_event_id?: string | undefined; idempotency_key?: string | undefined }
  body: Uint8Array | AsyncIterable<Uint8Array> | undefined
  signal: AbortSignal
}

/** A validated response, ready to be forwarded. */
export interface RemoteResponse {
  status: number
  headers: Record<string, string>
  body:
    | { kind: 'none' }
    | { kind: 'json'; value: unknown }
    | { kind: 'picture'; type: string; bytes: Uint8Array<ArrayBuffer> }
    | { kind: 'file'; type: string; length: string | undefined; chunks: AsyncIterable<Uint8Array> }
    | { kind: 'events'; events: EventStream }
}

export interface RemoteClient {
  /** Parses the origin of an instance from user input; throws `invalid_input`. */
  parseOrigin(text: string): string
  /** Throws unless there is a Homeport API that accepts the token. */
  probe(target: Omit<RemoteTarget, 'id'>): Promise<void>
  forward(target: RemoteTarget, remoteCall: RemoteCall): Promise<RemoteResponse>
  /** Aborts all active calls to an instance that was removed. */
  abortAll(id: string): void
}

/** How long the remote may take to answer, and how long it may be silent during a response. Event streams send a comment every 15 s. */
export interface RemoteTimeouts {
  probe_ms: number
  read_ms: number
  change_ms: number
  /** For operations that are slow with much data. */
  slow_ms: number
  idle_ms: number
  stream_idle_ms: number
}
const defaultTimeouts: RemoteTimeouts = {
  probe_ms: 15_000,
  read_ms: 30_000,
  change_ms: 180_000,
  slow_ms: 6 * 3_600_000,
  idle_ms: 30_000,
  stream_idle_ms: 60_000,
}
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export function createRemoteClient(options: {
  isOwn: (url: URL) => boolean
  clock: Clock
  timeouts?: RemoteTimeouts
  resolve?: LookupAddresses
}): RemoteClient {
  const { isOwn, clock, timeouts = defaultTimeouts } = options
  const sendRequest = createRequestSender(clock, options.resolve)
  const activeCalls = new Map<string, Set<AbortController>>()

  return {
    parseOrigin: (text) => parseOrigin(text, isOwn),

    async probe(target) {
      const signal = timeoutSignal(clock, 2 * timeouts.probe_ms)
      const response = await sendRequest(target.origin, {
        method: 'GET',
        path: '/v1/projects?limit=1',
        headers: buildRequestHeaders('listProjects', target.token, {}),
        head_timeout_ms: timeouts.probe_ms,
        idle_timeout_ms: timeouts.probe_ms,
        signal,
      }).catch((error: unknown) => {
        throw error instanceof Problem ? error : createUnreachableProblem(`${new URL(target.origin).host} did not respond in time.`)
      })
      const { body } = await readResponse(response, target, 'listProjects')
      if (body.kind !== 'json') throw createUnreachableProblem(`${new URL(target.origin).host} answered with a response that does not match the API.`)
    },

    async forward(target, remoteCall) {
      const controller = new AbortController()
      const open = activeCalls.get(target.id) ?? new Set()
      activeCalls.set(target.id, open.add(controller))
      const finish = () => {
        open.delete(controller)
        if (open.size === 0 && activeCalls.get(target.id) === open) activeCalls.delete(target.id)
      }
      const spec: OperationSpec = allOperations[remoteCall.operation]
      const search = remoteCall.query.size > 0 ? `?${remoteCall.query}` : ''
      try {
        const response = await sendRequest(target.origin, {
          method: spec.method,
          path: spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(remoteCall.params[name] ?? '')) + search,
          headers: buildRequestHeaders(remoteCall.operation, target.token, remoteCall.headers),
          body: remoteCall.body,
          head_timeout_ms: spec.is_slow ? timeouts.slow_ms : spec.method === 'GET' ? timeouts.read_ms : timeouts.change_ms,
          idle_timeout_ms: 'events' in spec.success ? timeouts.stream_idle_ms : timeouts.idle_ms,
          signal: AbortSignal.any([remoteCall.signal, controller.signal]),
        })
        response.once('close', finish)
        return await readResponse(response, target, remoteCall.operation)
      } catch (error) {
        finish()
        throw error
      }
    },

    abortAll(id) {
      const problem = new Problem('remote_not_found', 'This instance is no longer in the list.')
      for (const controller of activeCalls.get(id) ?? []) controller.abort(problem)
    },
  }
}

/** The headers of a remote request. Of the caller's own headers, only those listed here are forwarded. */
function buildRequestHeaders(operation: OperationId, token: string, callerHeaders: RemoteCall['headers']): OutgoingHttpHeaders {
  const { success }: OperationSpec = allOperations[operation]
  const headers: OutgoingHttpHeaders = {
    authorization: `Bearer ${token}`,
    accept: 'events' in success ? 'text/event-stream' : 'content_type' in success ? `${success.content_type}, application/json` : 'application/json',
    'accept-encoding': 'identity',
  }
  if (callerHeaders.type !== undefined) headers['content-type'] = callerHeaders.type
  if (callerHeaders.length !== undefined) headers['content-length'] = callerHeaders.length
  if (callerHeaders.last_event_id !== undefined) headers['last-event-id'] = callerHeaders.last_event_id
  if (callerHeaders.idempotency_key !== undefined) headers['idempotency-key'] = callerHeaders.idempotency_key
  return headers
}

async function readResponse(response: IncomingMessage, { origin, token }: Omit<RemoteTarget, 'id'>, operation: OperationId): Promise<RemoteResponse> {
  const { host } = new URL(origin)
  const { success }: OperationSpec = allOperations[operation]
  const status = response.statusCode ?? 0
  const headers = pickResponseHeaders(response)
  const wrongType = () =>
    createUnreachableProblem(`${host} answered with the wrong content type (${quoteExcerpt(readContentType(response) || 'none')}).`)
  try {
    validateHead(response, origin)
    if (status >= 400) return { ...(await readErrorResponse(response, { origin, token })), headers }
    if (status === 204 || !('json' in success || 'events' in success || 'content_type' in success)) {
      if ('json' in success || 'events' in success || 'content_type' in success)
        throw createUnreachableProblem(`${host} answered without the expected content.`)
      response.destroy()
      return { status: 204, headers, body: { kind: 'none' } }
    }
    if ('json' in success) return { status, headers, body: { kind: 'json', value: await readJson(response, origin, success.json, token) } }
    if ('events' in success) {
      if (readContentType(response) !== 'text/event-stream') throw wrongType()
      return { status: 200, headers, body: { kind: 'events', events: readRemoteEvents(response, { ...success, token }) } }
    }
    if (readContentType(response) !== success.content_type) throw wrongType()
    if (success.is_stream) {
      const length = response.headers['content-length']
      return { status: 200, headers, body: { kind: 'file', type: success.content_type, length, chunks: response } }
    }
    const bytes = new Uint8Array(await readResponseBody(response, origin))
    if (success.content_type === 'image/png' && pngSignature.compare(bytes, 0, pngSignature.length) !== 0)
      throw createUnreachableProblem(`${host} sent an invalid image.`)
    return { status: 200, headers, body: { kind: 'picture', type: success.content_type, bytes } }
  } catch (error) {
    response.destroy()
    // Some messages quote the response, which could contain the token.
    throw error instanceof Problem ? new Problem(error.code, maskToken(error.message, token)) : error
  }
}

/** A 401 of the remote concerns its token. The caller is still signed in to this instance. */
async function readErrorResponse(
  response: IncomingMessage,
  { origin, token }: Omit<RemoteTarget, 'id'>,
): Promise<Pick<RemoteResponse, 'status' | 'body'>> {
  const { host } = new URL(origin)
  const status = response.statusCode ?? 0
  const errorBody = await readErrorBody(response, origin, token)
  if (status === 401)
    throw new Problem(
      'remote_token_refused',
      `${host} rejected the token because it was revoked or has expired. Create a new token there and enter it here.`,
    )
  if (errorBody) return { status, body: { kind: 'json', value: errorBody } }
  if (status === 404 || status === 405) throw new Problem('route_not_found', `${host} does not support this operation.`)
  throw createUnreachableProblem(`${host} answered with status ${status} and no error message. A proxy in front of it may be failing. Try again.`)
}

/** The response headers that are forwarded; the others are created here. */
function pickResponseHeaders(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, pattern] of passedHeaders) {
    const value = response.headers[name]
    if (typeof value === 'string' && pattern.test(value)) headers[name] = value
  }
  return headers
}

const digits = /^\d{1,12}$/
const passedHeaders: [string, RegExp][] = [
  ['retry-after', digits],
  ['x-ratelimit-limit', digits],
  ['x-ratelimit-remaining', digits],
  ['x-ratelimit-reset', digits],
  ['x-request-id', /^[\w-]{1,100}$/],
  ['idempotency-replayed', /^true$/],
]
