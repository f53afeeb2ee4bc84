import type { ServerResponse } from 'node:http'
import { Problem } from '../contract/errors.ts'
import type { ErrorEnvelope } from '../contract/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RateState } from './rate-limit.ts'
import type { StreamBody } from './sse.ts'

/** A response of the API server, including public routes and parser errors. */
export interface ApiResponse {
  status: number
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | StreamBody | null
}

export const jsonResponse = (status: number, value: unknown, headers: Record<string, string> = {}): ApiResponse =>
  textResponse(status, 'application/json; charset=utf-8', JSON.stringify(value), headers)

export const textResponse = (
  status: number,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): ApiResponse => ({
  status,
  headers: {
    'content-type': type,
    'content-length': String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength),
    'cache-control': 'no-store',
    ...headers,
  },
  body,
})

export const fileResponse = (type: string, body: StreamBody): ApiResponse => ({
  status: 200,
  headers: { 'content-type': type, 'cache-control': 'no-store' },
  body,
})

export const noContent = (headers: Record<string, string> = {}): ApiResponse => ({
  status: 204,
  headers: { 'cache-control': 'no-store', ...headers },
  body: null,
})

export const redirectResponse = (status: 302 | 303, location: string, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  headers: { location, 'content-length': '0', 'cache-control': 'no-store', ...headers },
  body: '',
})

/** The headers of every response. */
export function commonHeaders(requestId: string, rate: RateState): Record<string, string> {
  return {
    'x-request-id': requestId,
    'x-ratelimit-limit': String(rate.limit),
    'x-ratelimit-remaining': String(rate.remaining),
    'x-ratelimit-reset': String(rate.reset_s),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
}

/** Converts a problem to an error response. */
export function errorResponse(problem: Problem, requestId: string): ApiResponse {
  const envelope: ErrorEnvelope = { error: problem.code, message: problem.message, ...problem.fields, request_id: requestId }
  if (problem.issues) envelope.issues = problem.issues
  const headers: Record<string, string> = {}
  if (problem.retry_after_s !== undefined) headers['retry-after'] = String(problem.retry_after_s)
  if (problem.code === 'unauthorized') headers['www-authenticate'] = 'Bearer'
  return jsonResponse(problem.status, envelope, headers)
}

/** Converts any thrown value to a problem. Unexpected errors are logged with the request ID; the client gets only the ID. */
export function toProblem(error: unknown, requestId: string, operation: string | null, log: Log): Problem {
  if (error instanceof Problem) {
    if (error.status >= 500) log.error('request_refused', { request_id: requestId, operation, code: error.code, cause: error.cause })
    return error
  }
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  log.error('request_failed', { request_id: requestId, operation, error: error instanceof Error ? error : String(error) })
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new Problem('database_busy', 'The database is locked by another program. Try again in a few seconds.', { retry_after_s: 5 })
  }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT')
    return new Problem('storage_full', 'The disk of this machine is full. Free some space and try again.')
  if (code.startsWith('SQLITE_IOERR') || code === 'EIO')
    return new Problem('database_busy', 'The disk of this machine reports an input/output error. Check the disk, then try again.', {
      retry_after_s: 30,
    })
  return new Problem('internal_error', 'Something went wrong inside Homeport. Try again. If it happens again, search the log for the request ID.')
}

/** Serializes a response for errors of the HTTP parser, which occur before there is a request object. */
export function serializeResponse(response: ApiResponse): string {
  const reason = reasonPhrases[response.status] ?? 'Error'
  const head = Object.entries({ ...response.headers, connection: 'close', date: new Date().toUTCString() }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return `HTTP/1.1 ${response.status} ${reason}\r\n${head.join('\r\n')}\r\n\r\n${typeof response.body === 'string' ? response.body : ''}`
}

const reasonPhrases: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
}

/** A signal that aborts if the client disconnects before the response is complete. Created on first use, because most handlers do not need it. */
export function createClientSignal(res: ServerResponse) {
  let controller: AbortController | undefined
  const onClose = () => {
    if (!res.writableFinished) controller?.abort(new Error('the client disconnected'))
  }
  return {
    get signal(): AbortSignal {
      if (!controller) {
        controller = new AbortController()
        if (res.destroyed) onClose()
        else res.once('close', onClose)
      }
      return controller.signal
    },
    abort(): void {
      controller?.abort(new Error('the stream has ended'))
    },
  }
}

export class MethodNotAllowed extends Problem {
  readonly allow: string[]
  constructor(method: string, allow: string[]) {
    super('method_not_allowed', `${method} is not allowed at this path. Use ${allow.join(', ')}.`)
    this.allow = allow
  }
}
