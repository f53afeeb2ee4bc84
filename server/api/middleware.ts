import type { Middleware } from 'h3'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../contract/errors.ts'
import type { Caller } from '../features/context.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type ApiRequest, operationOf, requestOf, specOf } from './api-request.ts'
import { hasBody, type HostRule, readRequestBody, validateHttpRequest } from './http-request.ts'
import { accountKey, type RateLimit } from './rate-limit.ts'
import { type ApiResponse, commonHeaders, errorResponse, MethodNotAllowed, toProblem } from './response.ts'
import { checkUpload, drainRequestBody } from './upload.ts'

export interface MiddlewareOptions {
  hostRule: HostRule
  rateLimit: RateLimit
  findCaller(req: IncomingMessage): Promise<Caller | undefined>
  clock: Clock
  log: Log
  /** Timeout for receiving a request body. */
  body_timeout_ms: number
}

/** The middleware of every route, in the order in which it runs. The rest of the chain returns an `ApiResponse` or throws. */
export function createMiddleware(options: MiddlewareOptions) {
  const { clock, log, rateLimit } = options

  /**
   * Writes the response with its common headers; every error becomes an error envelope. Written directly to Node, because a conversion to web
   * headers and streams and back would cost a third of a request and twice the memory of an open stream.
   */
  const respond: Middleware = async (event, next) => {
    const request = requestOf(event)
    let response: ApiResponse
    try {
      response = (await next()) as ApiResponse
    } catch (error) {
      response = await createErrorResponse(request, error)
    }
    const { match, rate, rate_key, res } = request
    const alias = match?.target.kind === 'operation' && match.target.is_alias ? aliasHeaders(request.pathname) : undefined
    res.writeHead(response.status, { ...commonHeaders(request.id, rate ?? rateLimit.peek(rate_key)), ...alias, ...response.headers })
    await writeBody(request, response.body)
    // Not undefined, for which h3 would run the rest of the chain again.
    return null
  }

  const createErrorResponse = async (request: ApiRequest, error: unknown): Promise<ApiResponse> => {
    const { req, res } = request
    const problem = toProblem(error, request.id, operationOf(request), log)
    const response = errorResponse(problem, request.id)
    if (error instanceof MethodNotAllowed) response.headers.allow = error.allow.join(', ')
    // The connection closes because the unread rest of the request would be parsed as the next one.
    if (specOf(request)?.upload) {
      if (problem.status === 408 || (await drainRequestBody(req, res, clock)).close) response.headers.connection = 'close'
    } else if (closingStatuses.has(problem.status) || !req.complete) response.headers.connection = 'close'
    return response
  }

  /** Rejects malformed HTTP requests, and reads the body. */
  const receive: Middleware = async (event, next) => {
    const request = requestOf(event)
    const { req, res } = request
    validateHttpRequest(req)
    const upload = specOf(request)?.upload
    if (upload) checkUpload(req, upload)
    else if (hasBody(req)) request.body = await readRequestBody(req, res, { clock, timeout_ms: options.body_timeout_ms })
    return next()
  }

  /** Finds the caller, and rejects hosts that are not of this instance. */
  const identify: Middleware = async (event, next) => {
    const request = requestOf(event)
    request.caller = await options.findCaller(request.req)
    const { hostRule } = options
    if (!hostRule.isKnown(request.req) && (!hostRule.isOpen(request.req) || request.caller?.via !== 'token')) throw misdirectedRequest()
    return next()
  }

  const limitRate: Middleware = (event, next) => {
    const request = requestOf(event)
    const { caller, match } = request
    const mode = match?.target.kind === 'public' ? match.target.publicRoute.rate_limit : true
    if (caller && mode !== 'by_address') request.rate_key = accountKey(caller.account_id)
    // The other instance counts a forwarded request. One that may not be forwarded is counted here.
    const isCounted = match?.target.kind === 'remote' ? !caller?.is_instance_owner : mode !== false
    if (!isCounted) return next()
    const state = rateLimit.count(request.rate_key)
    request.rate = state
    if (!state.allowed) throw new Problem('rate_limited', `Too many requests. Try again in ${state.retry_after_s} s.`, state)
    return next()
  }

  return { respond, receive, identify, limitRate }
}

async function writeBody({ req, res }: { req: IncomingMessage; res: ServerResponse }, body: ApiResponse['body']): Promise<void> {
  if (typeof body !== 'function') return void res.end(req.method === 'HEAD' ? null : body)
  const closed = new Promise((resolve) => res.once('close', resolve))
  body(res)
  await closed
}

export const misdirectedRequest = () =>
  new Problem('misdirected_request', 'This instance does not serve this hostname. Use the URL that it printed at startup.')

const closingStatuses: ReadonlySet<number> = new Set([408, 413, 414, 431])

const aliasHeaders = (pathname: string) => ({
  deprecation: 'true',
  link: `</v1${pathname.replace(/[<>"\\^`{|}]/g, encodeURIComponent)}>; rel="successor-version"`,
})
