import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { OperationId } from '../contract/index.ts'
import { Problem } from '../contract/errors.ts'
import type { OperationSpec } from '../contract/operation.ts'
import type { Caller, OperationContext } from '../features/context.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { checkOrigin, unauthorized } from './authentication.ts'
import type { PublicRoute, PublicRequest } from './public-routes/public-route.ts'
import { hasIdempotencyKey } from './idempotency.ts'
import type { BeforeHandler, Idempotency } from './idempotency.ts'
import { matchRemoteRoute } from './remote-proxy.ts'
import type { ProxyToRemote, RemoteRoute } from './remote-proxy.ts'
import { routeNotFound } from './parse-input.ts'
import { accountKey, addressKey } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { commonHeaders, createClientSignal, jsonResponse, noContent, toProblem, errorResponse } from './response.ts'
import type { ApiResponse } from './response.ts'
import type { RouteLookup, RouteMatch, RouteTable } from './route-table.ts'
import type { StreamAccess } from './sse.ts'
import { validateHttpRequest, hasBody, headerValues, isLocal, readBody } from './http-request.ts'
import type { HostRule } from './http-request.ts'
import { checkUpload, drainRequestBody, openUpload } from './upload.ts'
import type { UploadSpec } from './upload.ts'

/** The target of a path: an operation, at its own path or its alias, or a public route. */
export type ApiRoute = { kind: 'operation'; id: OperationId; is_alias: boolean; run: OperationRunner } | { kind: 'public'; publicRoute: PublicRoute }

/** Parses the rest of the request, calls the handler and converts the result to a response. */
export type OperationRunner = (context: OperationContext, request: OperationRequest) => Promise<ApiResponse>

export interface OperationRequest {
  params: Record<string, string>
  query: string
  body: Buffer
  /** The uploaded file. Nothing is read before this is called. */
  upload(spec: UploadSpec): AsyncIterable<Uint8Array>
  headers: { type: string | undefined; encoding: string | undefined; last_event_id: string | undefined }
  is_head: boolean
  /** The access under which a stream is opened. */
  access: StreamAccess
  /** Called when a stream of this request has ended. */
  onEnd(): void
  /** Called after validation, right before the handler. A returned response is a replay and is sent instead. */
  beforeHandler?: BeforeHandler
}

interface RoutedRequest {
  caller: Caller | undefined
  requestId: string
  pathname: string
  query: string
  body: Buffer
  found: RouteLookup<ApiRoute | RemoteRoute>
}

/** Returns the ID of the project or domain in the path. Throws a 404 if the caller may not see it. */
export type ResolveResource = (context: OperationContext, id: OperationId, params: Record<string, string>) => Promise<string | undefined>

export interface PipelineParts {
  routes: RouteTable<ApiRoute>
  hostRule: HostRule
  rateLimit: RateLimit
  findCaller(req: IncomingMessage): Promise<Caller | undefined>
  resolveResource: ResolveResource | undefined
  isCredentialActive(credentialId: string): Promise<boolean>
  /** Forwards requests for another instance. */
  proxyToRemote: ProxyToRemote | undefined
  /** Replays responses to requests with an idempotency key. */
  idempotency: Idempotency | undefined
  clock: Clock
  log: Log
  /** Timeout for receiving a request body. */
  body_timeout_ms: number
}

/**
 * Handles every request in the contract's order of checks: transport, host, rate limit, authentication, origin, resource, input, and then
 * the handler with its own 503, 402 and 409. Never rejects: every error becomes an error envelope.
 */
export function createPipeline({
  routes,
  hostRule,
  rateLimit,
  findCaller,
  resolveResource,
  isCredentialActive,
  proxyToRemote,
  idempotency,
  clock,
  log,
  body_timeout_ms,
}: PipelineParts) {
  return handle

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<ApiResponse> {
    const requestId = newId('req')
    const { pathname, query } = splitTarget(req.url ?? '')
    const found: RouteLookup<ApiRoute | RemoteRoute> =
      (proxyToRemote && matchRemoteRoute(routes, req.method ?? '', pathname)) ?? routes.find(req.method ?? '', pathname)
    const { match } = found
    let key = addressKey(req.socket.remoteAddress)
    let rateState: ReturnType<RateLimit['count']> | undefined
    let result: ApiResponse
    try {
      validateHttpRequest(req)
      const upload = uploadOf(match)
      if (upload) checkUpload(req, upload)
      const body = !upload && hasBody(req) ? await readBody(req, res, { clock, timeout_ms: body_timeout_ms }) : Buffer.alloc(0)

      const caller = await findCaller(req)
      if (!hostRule.isKnown(req) && (!hostRule.isOpen(req) || caller?.via !== 'token')) throw misdirectedRequest()

      if (caller && rateLimitModeOf(match) !== 'by_address') key = accountKey(caller.account_id)
      // A forwarded request is counted by the other instance. Requests that may not be forwarded are counted here.
      if (match?.target.kind === 'remote' ? !caller?.is_instance_owner : rateLimitModeOf(match) !== false) {
        rateState = rateLimit.count(key)
        if (!rateState.allowed) throw new Problem('rate_limited', `Too many requests. Try again in ${rateState.retry_after_s} s.`, rateState)
      }

      if (req.method === 'OPTIONS' && (found.allow.length > 0 || pathname === '*'))
        result = noContent({ allow: (found.allow.length > 0 ? found.allow : allMethods).join(', ') })
      else if (match?.target.kind === 'public')
        result = await match.target.publicRoute.handle(createPublicRequest(req, { query, body, params: match.params }))
      else result = await handleOperation(req, res, { caller, requestId, pathname, query, body, found })
    } catch (error) {
      const problem = toProblem(error, requestId, operationOf(match), log)
      result = errorResponse(problem, requestId)
      if (error instanceof MethodNotAllowed) result.headers.allow = error.allow.join(', ')
      // The connection closes because the unread rest of the request would be parsed as the next one.
      if (uploadOf(match)) {
        if (problem.status === 408 || (await drainRequestBody(req, res, clock)).close) result.headers.connection = 'close'
      } else if (closingStatuses.has(problem.status) || !req.complete) result.headers.connection = 'close'
    }
    const alias = match?.target.kind === 'operation' && match.target.is_alias ? aliasHeaders(pathname) : undefined
    return { ...result, headers: { ...commonHeaders(requestId, rateState ?? rateLimit.peek(key)), ...alias, ...result.headers } }
  }

  /** Continues with authentication. An unauthenticated caller cannot tell which paths exist under /v1. */
  async function handleOperation(req: IncomingMessage, res: ServerResponse, routed: RoutedRequest): Promise<ApiResponse> {
    const { caller, requestId, found, query } = routed
    const isOpen = found.targetAtPath === undefined ? !isApiPath(routed.pathname) : found.targetAtPath.kind === 'public'
    if (!caller && !isOpen) throw unauthorized()
    if (!found.match) throw found.targetAtPath === undefined ? routeNotFound() : new MethodNotAllowed(req.method ?? '', found.allow)
    const { target, params } = found.match
    if (!caller || target.kind === 'public') throw routeNotFound()

    checkOrigin(req, caller)
    if (target.kind === 'remote') {
      if (!caller.is_instance_owner || !proxyToRemote)
        throw new Problem('forbidden', 'Only the owner of this instance can access other instances through it.')
      const client = createClientSignal(res)
      const context = new HandlerContext(caller, requestId, isLocal(req), client)
      const access: StreamAccess = { key: caller.credential_id, isGranted: () => isCredentialActive(caller.credential_id) }
      return proxyToRemote(req, res, { target, params, query, body: routed.body, context, access, onEnd: () => client.abort() })
    }
    const spec: OperationSpec = allOperations[target.id]
    if (spec.access === 'owner' && !caller.is_instance_owner) throw new Problem('forbidden', 'Only the owner of this instance can do this.')
    const client = createClientSignal(res)
    const context = new HandlerContext(caller, requestId, isLocal(req), client)
    // Without a body, a query or a stream there is nothing to validate, so the handler's own lookup is enough.
    const isResolved = query !== '' || spec.body || spec.upload || isStream(spec) || hasIdempotencyKey(req)
    const resource = isResolved ? await resolveResource?.(context, target.id, params) : undefined
    const uploadSpec = spec.upload
    const keyed = idempotency?.(req, {
      account_id: caller.account_id,
      user_id: caller.user_id,
      request_id: requestId,
      operation: target.id,
      params,
      resource,
      query,
      body: routed.body,
      is_atomic: spec.is_atomic === true,
      upload: uploadSpec && (() => openUpload(req, res, clock, uploadSpec)),
    })
    const replayed = await keyed?.replay()
    if (replayed) return replayed
    keyed?.validateKey()
    const { success } = spec
    if (keyed && spec.is_atomic && 'json' in success)
      context.saveResponse = (tx, output) => keyed.storeInTransaction(tx, jsonResponse(success.status, output))
    const headers = {
      type: req.headers['content-type'],
      encoding: req.headers['content-encoding'],
      last_event_id: headerValues(req, 'last-event-id')[0],
    }
    const request: OperationRequest = {
      params,
      query,
      body: routed.body,
      upload(file) {
        const chunks = openUpload(req, res, clock, file)
        return keyed ? keyed.hashBody(chunks) : chunks
      },
      headers,
      is_head: req.method === 'HEAD',
      access: createStreamAccess(context, target.id, params, resource),
      onEnd: () => client.abort(),
    }
    return keyed ? keyed.runOnce((beforeHandler) => target.run(context, { ...request, beforeHandler })) : target.run(context, request)
  }

  /** Access ends with the credential, or when the slug no longer names the same project for the caller. */
  function createStreamAccess(
    context: OperationContext,
    id: OperationId,
    params: Record<string, string>,
    resource: string | undefined,
  ): StreamAccess {
    const { credential_id } = context.caller
    const { slug } = params
    return {
      key: `${credential_id} ${slug} ${resource}`,
      async isGranted() {
        if (!(await isCredentialActive(credential_id))) return false
        if (slug === undefined) return true
        try {
          return (await resolveResource?.(context, id, { slug })) === resource
        } catch (error) {
          if (error instanceof Problem && error.status === 404) return false
          throw error
        }
      },
    }
  }
}

const isStream = ({ success }: OperationSpec) => 'events' in success || ('is_stream' in success && success.is_stream === true)

/** The signal is created on first use. */
class HandlerContext implements OperationContext {
  readonly caller: Caller
  readonly request_id: string
  readonly is_local: boolean
  saveResponse: OperationContext['saveResponse']
  readonly #client: { signal: AbortSignal }

  constructor(caller: Caller, requestId: string, isLocal: boolean, client: { signal: AbortSignal }) {
    this.caller = caller
    this.request_id = requestId
    this.is_local = isLocal
    this.#client = client
  }

  get signal(): AbortSignal {
    return this.#client.signal
  }
}

class MethodNotAllowed extends Problem {
  readonly allow: string[]
  constructor(method: string, allow: string[]) {
    super('method_not_allowed', `${method} is not allowed at this path. Use ${allow.join(', ')}.`)
    this.allow = allow
  }
}

const misdirectedRequest = () =>
  new Problem('misdirected_request', 'This instance does not serve this hostname. Use the URL that it printed at startup.')

const closingStatuses: ReadonlySet<number> = new Set([408, 413, 414, 431])
const allMethods = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']

function operationOf(match: RouteMatch<ApiRoute | RemoteRoute> | undefined): OperationId | null {
  if (match?.target.kind === 'operation') return match.target.id
  return match?.target.kind === 'remote' ? match.target.operation : null
}

function uploadOf(match: RouteMatch<ApiRoute | RemoteRoute> | undefined): UploadSpec | undefined {
  const id = operationOf(match)
  const spec: OperationSpec | undefined = id === null ? undefined : allOperations[id]
  return spec?.upload
}

const rateLimitModeOf = (match: RouteMatch<ApiRoute | RemoteRoute> | undefined) =>
  match?.target.kind === 'public' ? match.target.publicRoute.rate_limit : true

/** Under these prefixes, unauthenticated requests to unknown paths get a 401 instead of a 404. */
const isApiPath = (pathname: string) => pathname === '/v1' || ['/v1/', '/instance/', '/remote/'].some((start) => pathname.startsWith(start))

const aliasHeaders = (pathname: string) => ({
  deprecation: 'true',
  link: `</v1${pathname.replace(/[<>"\\^`{|}]/g, encodeURIComponent)}>; rel="successor-version"`,
})

function splitTarget(url: string): { pathname: string; query: string } {
  const queryStart = url.indexOf('?')
  return queryStart === -1 ? { pathname: url, query: '' } : { pathname: url.slice(0, queryStart), query: url.slice(queryStart + 1) }
}

const createPublicRequest = (req: IncomingMessage, parts: { query: string; body: Buffer; params: Record<string, string> }): PublicRequest => ({
  query: new URLSearchParams(parts.query),
  params: parts.params,
  headers: req.headers,
  headerValues: (name) => headerValues(req, name),
  body: parts.body,
  is_local: isLocal(req),
  is_head: req.method === 'HEAD',
  accepts_html: /\btext\/html\b/i.test(req.headers.accept ?? ''),
  is_browser: req.headers['sec-fetch-site'] !== undefined,
})
