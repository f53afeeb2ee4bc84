import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { OperationId } from '../contract/index.ts'
import { Problem } from '../contract/errors.ts'
import type { OperationSpec } from '../contract/operation.ts'
import type { Caller, Context } from '../features/context.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Log } from '../lib/log.ts'
import { checkOrigin, unauthorized } from './caller.ts'
import type { Door, DoorRequest } from './doors.ts'
import { hasKey } from './idempotency.ts'
import type { Begin, Idempotency } from './idempotency.ts'
import { findPassage } from './passage.ts'
import type { Pass, PassageTarget } from './passage.ts'
import { routeNotFound } from './parse.ts'
import { accountKey, addressKey } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { commonHeaders, createClientSignal, json, nothing, problemOf, refusal } from './respond.ts'
import type { Answer } from './respond.ts'
import type { Found, Match, Routes } from './routes.ts'
import type { StreamAccess } from './sse.ts'
import { checkTransport, hasBody, headerValues, isLocal, receive } from './transport.ts'
import type { HostRule } from './transport.ts'
import { checkUpload, letGo, openUpload } from './upload.ts'
import type { UploadSpec } from './upload.ts'

/** What is mounted at a path: an operation of the record, at its own path or at its alias, or a door. */
export type Target = { kind: 'operation'; id: OperationId; is_alias: boolean; run: Run } | { kind: 'door'; door: Door }

/** Parses the rest of the request, calls the handler and turns what it returns into an answer. */
export type Run = (context: Context, request: OperationRequest) => Promise<Answer>

export interface OperationRequest {
  params: Record<string, string>
  query: string
  body: Buffer
  /** The file of an operation that takes one; nothing of it is read before. */
  upload(spec: UploadSpec): AsyncIterable<Uint8Array>
  headers: { type: string | undefined; encoding: string | undefined; last_event_id: string | undefined }
  is_head: boolean
  /** What a stream is opened by. */
  access: StreamAccess
  /** Called when a stream of this request is over. */
  onEnd(): void
  /** Called when the request is in order, right before the handler; an answer in its place is the first one to the same request. */
  begin?: Begin
}

/** A request on its way to its operation. */
interface Asked {
  caller: Caller | undefined
  requestId: string
  pathname: string
  query: string
  body: Buffer
  found: Found<Target | PassageTarget>
}

/** Throws the 404 of what a path names and the caller may not see; else returns the id of its project, or of a domain by itself. */
export type Resolve = (context: Context, id: OperationId, params: Record<string, string>) => Promise<string | undefined>

export interface PipelineParts {
  routes: Routes<Target>
  hosts: HostRule
  rate: RateLimit
  findCaller(req: IncomingMessage): Promise<Caller | undefined>
  resolve: Resolve | undefined
  credentialAlive(credentialId: string): Promise<boolean>
  /** Sends what is meant for another instance on to it. */
  pass: Pass | undefined
  /** Answers a request with a key that was answered before. */
  idempotency: Idempotency | undefined
  clock: Clock
  log: Log
  /** How long the body of a request may take. */
  patience_ms: number
}

/**
 * The way of every request, in the contract's order of checks: transport, host, rate, authentication, origin, resource, input,
 * and then the handler with its own 503, 402 and 409. Never rejects: what is thrown on the way becomes the envelope.
 */
export function createPipeline({
  routes,
  hosts,
  rate,
  findCaller,
  resolve,
  credentialAlive,
  pass,
  idempotency,
  clock,
  log,
  patience_ms,
}: PipelineParts) {
  return answer

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<Answer> {
    const requestId = newId('req')
    const { pathname, query } = splitTarget(req.url ?? '')
    const found: Found<Target | PassageTarget> = (pass && findPassage(routes, req.method ?? '', pathname)) ?? routes.find(req.method ?? '', pathname)
    const { match } = found
    let key = addressKey(req.socket.remoteAddress)
    let counted: ReturnType<RateLimit['count']> | undefined
    let result: Answer
    try {
      checkTransport(req)
      const upload = uploadOf(match)
      if (upload) checkUpload(req, upload)
      const body = !upload && hasBody(req) ? await receive(req, res, { clock, patience_ms }) : Buffer.alloc(0)

      const caller = await findCaller(req)
      if (!hosts.isKnown(req) && (!hosts.isOpen(req) || caller?.via !== 'token')) throw misdirected()

      if (caller && countedAs(match) !== 'by_address') key = accountKey(caller.account_id)
      // What is sent on is counted where it goes to; who may not send anything is counted here.
      if (match?.target.kind === 'passage' ? !caller?.is_instance_owner : countedAs(match) !== false) {
        counted = rate.count(key)
        if (!counted.allowed) throw new Problem('rate_limited', `Too many requests. Wait ${counted.retry_after_s} s and go on.`, counted)
      }

      if (req.method === 'OPTIONS' && (found.allow.length > 0 || pathname === '*'))
        result = nothing({ allow: (found.allow.length > 0 ? found.allow : everyMethod).join(', ') })
      else if (match?.target.kind === 'door') result = await match.target.door.answer(doorRequest(req, { query, body, params: match.params }))
      else result = await operate(req, res, { caller, requestId, pathname, query, body, found })
    } catch (error) {
      const problem = problemOf(error, requestId, operationOf(match), log)
      result = refusal(problem, requestId)
      if (error instanceof MethodNotAllowed) result.headers.allow = error.allow.join(', ')
      // What is left of the request cannot be told from the next one.
      if (uploadOf(match)) {
        if (problem.status === 408 || (await letGo(req, res, clock)).close) result.headers.connection = 'close'
      } else if (closing.has(problem.status) || !req.complete) result.headers.connection = 'close'
    }
    const alias = match?.target.kind === 'operation' && match.target.is_alias ? aliasHeaders(pathname) : undefined
    return { ...result, headers: { ...commonHeaders(requestId, counted ?? rate.look(key)), ...alias, ...result.headers } }
  }

  /** From authentication on. What is at an unknown path below /v1 is not told to somebody who is not signed in either. */
  async function operate(req: IncomingMessage, res: ServerResponse, asked: Asked): Promise<Answer> {
    const { caller, requestId, found, query } = asked
    const isOpen = found.at === undefined ? !isApiPath(asked.pathname) : found.at.kind === 'door'
    if (!caller && !isOpen) throw unauthorized()
    if (!found.match) throw found.at === undefined ? routeNotFound() : new MethodNotAllowed(req.method ?? '', found.allow)
    const { target, params } = found.match
    if (!caller || target.kind === 'door') throw routeNotFound()

    checkOrigin(req, caller)
    if (target.kind === 'passage') {
      if (!caller.is_instance_owner || !pass) throw new Problem('forbidden', 'Only the owner of this instance reaches others through it.')
      const client = createClientSignal(res)
      const context = new RequestContext(caller, requestId, isLocal(req), client)
      const access: StreamAccess = { key: caller.credential_id, isGranted: () => credentialAlive(caller.credential_id) }
      return pass(req, res, { target, params, query, body: asked.body, context, access, onEnd: () => client.abort() })
    }
    const spec: OperationSpec = allOperations[target.id]
    if (spec.access === 'owner' && !caller.is_instance_owner) throw new Problem('forbidden', 'Only the owner of this instance may do that.')
    const client = createClientSignal(res)
    const context = new RequestContext(caller, requestId, isLocal(req), client)
    // Without a body, a query or a stream nothing is left to do before the handler itself looks for what the path names.
    const isResolved = query !== '' || spec.body || spec.upload || isStream(spec) || hasKey(req)
    const resource = isResolved ? await resolve?.(context, target.id, params) : undefined
    const wanted = spec.upload
    const keyed = idempotency?.(req, {
      account_id: caller.account_id,
      user_id: caller.user_id,
      request_id: requestId,
      operation: target.id,
      params,
      resource,
      query,
      body: asked.body,
      is_atomic: spec.is_atomic === true,
      upload: wanted && (() => openUpload(req, res, clock, wanted)),
    })
    const replayed = await keyed?.replay()
    if (replayed) return replayed
    keyed?.check()
    const { success } = spec
    if (keyed && spec.is_atomic && 'json' in success) context.keepAnswer = (tx, output) => keyed.keepWithin(tx, json(success.status, output))
    const headers = {
      type: req.headers['content-type'],
      encoding: req.headers['content-encoding'],
      last_event_id: headerValues(req, 'last-event-id')[0],
    }
    const request: OperationRequest = {
      params,
      query,
      body: asked.body,
      upload(file) {
        const chunks = openUpload(req, res, clock, file)
        return keyed ? keyed.hashing(chunks) : chunks
      },
      headers,
      is_head: req.method === 'HEAD',
      access: accessTo(context, target.id, params, resource),
      onEnd: () => client.abort(),
    }
    return keyed ? keyed.around((begin) => target.run(context, { ...request, begin })) : target.run(context, request)
  }

  /** Lasts as long as the credential, and as the slug names the same project for the caller. A file of it may be deleted while it is read. */
  function accessTo(context: Context, id: OperationId, params: Record<string, string>, resource: string | undefined): StreamAccess {
    const { credential_id } = context.caller
    const { slug } = params
    return {
      key: `${credential_id} ${slug} ${resource}`,
      async isGranted() {
        if (!(await credentialAlive(credential_id))) return false
        if (slug === undefined) return true
        try {
          return (await resolve?.(context, id, { slug })) === resource
        } catch (error) {
          if (error instanceof Problem && error.status === 404) return false
          throw error
        }
      },
    }
  }
}

const isStream = ({ success }: OperationSpec) => 'events' in success || ('is_stream' in success && success.is_stream === true)

/** The signal is made when a handler first asks for it. */
class RequestContext implements Context {
  readonly caller: Caller
  readonly request_id: string
  readonly is_local: boolean
  keepAnswer: Context['keepAnswer']
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
    super('method_not_allowed', `${method} is not possible here. Use ${allow.join(', ')}.`)
    this.allow = allow
  }
}

const misdirected = () =>
  new Problem('misdirected_request', 'This instance does not answer to that name. Use the address that it printed, or add the name to its settings.')

const closing: ReadonlySet<number> = new Set([408, 413, 414, 431])
const everyMethod = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']

function operationOf(match: Match<Target | PassageTarget> | undefined): OperationId | null {
  if (match?.target.kind === 'operation') return match.target.id
  return match?.target.kind === 'passage' ? match.target.operation : null
}

function uploadOf(match: Match<Target | PassageTarget> | undefined): UploadSpec | undefined {
  const id = operationOf(match)
  const spec: OperationSpec | undefined = id === null ? undefined : allOperations[id]
  return spec?.upload
}

const countedAs = (match: Match<Target | PassageTarget> | undefined) => (match?.target.kind === 'door' ? match.target.door.is_counted : true)

/** Under these an unknown path tells nothing to somebody who is not signed in. */
const isApiPath = (pathname: string) => pathname === '/v1' || ['/v1/', '/instance/', '/remote/'].some((start) => pathname.startsWith(start))

const aliasHeaders = (pathname: string) => ({
  deprecation: 'true',
  link: `</v1${pathname.replace(/[<>"\\^`{|}]/g, encodeURIComponent)}>; rel="successor-version"`,
})

function splitTarget(url: string): { pathname: string; query: string } {
  const mark = url.indexOf('?')
  return mark === -1 ? { pathname: url, query: '' } : { pathname: url.slice(0, mark), query: url.slice(mark + 1) }
}

const doorRequest = (req: IncomingMessage, parts: { query: string; body: Buffer; params: Record<string, string> }): DoorRequest => ({
  query: new URLSearchParams(parts.query),
  params: parts.params,
  headers: req.headers,
  header: (name) => headerValues(req, name),
  body: parts.body,
  is_local: isLocal(req),
  is_head: req.method === 'HEAD',
  accepts_html: /\btext\/html\b/i.test(req.headers.accept ?? ''),
  is_browser: req.headers['sec-fetch-site'] !== undefined,
})
