import { allOperations } from '../contract/index.ts'
import { Problem } from '../contract/errors.ts'
import type { OperationSpec } from '../contract/operation.ts'
import type { Caller, OperationContext } from '../features/context.ts'
import type { ResolveResource } from '../features/resources.ts'
import type { Clock } from '../lib/clock.ts'
import type { ApiRequest } from './api-request.ts'
import { checkOrigin, unauthorized } from './authentication.ts'
import type { Idempotency } from './idempotency.ts'
import type { ProxyToRemote } from './remote-proxy.ts'
import { routeNotFound } from './parse-input.ts'
import { createClientSignal, jsonResponse, MethodNotAllowed, noContent } from './response.ts'
import type { ApiResponse } from './response.ts'
import type { RouteMatch, RouteTable } from './route-table.ts'
import type { OperationRequest } from './run-operation.ts'
import type { StreamAccess } from './sse.ts'
import { checkTokenScope } from './token-scope.ts'
import { headerValues, isLocal } from './http-request.ts'
import { openUpload } from './upload.ts'

export interface OperationHandlerOptions {
  resolveResource: ResolveResource | undefined
  isCredentialActive(credentialId: string): Promise<boolean>
  /** Forwards requests for another instance. */
  proxyToRemote: ProxyToRemote | undefined
  /** Replays responses to requests with an idempotency key. */
  idempotency: Idempotency | undefined
  clock: Clock
}

/**
 * Continues with authentication and origin, then resolves the resource, parses the input and calls the handler. An unauthenticated caller cannot
 * tell which paths exist under /v1.
 */
export function createOperationHandler({ resolveResource, isCredentialActive, proxyToRemote, idempotency, clock }: OperationHandlerOptions) {
  return async function answerOperation(request: ApiRequest, match: RouteMatch): Promise<ApiResponse> {
    const { req, res, query, body, caller } = request
    const { target } = match
    if (!caller) throw unauthorized()
    if (target.kind === 'public') throw routeNotFound()
    checkOrigin(req, caller)
    checkTokenScope(caller, allOperations[target.id], target.kind === 'remote')
    const client = createClientSignal(res)
    const context = new HandlerContext(caller, request.id, isLocal(req), client)
    if (target.kind === 'remote') {
      if (!caller.is_instance_owner || !proxyToRemote)
        throw new Problem('forbidden', 'Only the owner of this instance can access other instances through it.')
      const { remote = '', ...params } = match.params
      const access: StreamAccess = { key: caller.credential_id, isGranted: () => isCredentialActive(caller.credential_id) }
      return proxyToRemote(req, res, { remote, operation: target.id, params, query, body, context, access, onEnd: () => client.abort() })
    }
    const { params } = match
    const spec: OperationSpec = allOperations[target.id]
    if (spec.access === 'owner' && !caller.is_instance_owner) throw new Problem('forbidden', 'Only the owner of this instance can do this.')
    /** Returns the ID of the resource. */
    const resolve = async (): Promise<string | undefined> => {
      if (spec.resource === undefined) return undefined
      const resolved = await resolveResource?.(caller, spec.resource, params)
      Object.assign(context, resolved?.context)
      return resolved?.id
    }
    const resource = await resolve()
    const uploadSpec = spec.upload
    const keyed = idempotency?.(req, {
      account_id: caller.account_id,
      user_id: caller.user_id,
      request_id: request.id,
      operation: target.id,
      params,
      resource,
      query,
      body,
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
    const operationRequest: OperationRequest = {
      params,
      query,
      body,
      upload(file) {
        const chunks = openUpload(req, res, clock, file)
        return keyed ? keyed.hashBody(chunks) : chunks
      },
      headers,
      change: { operation: target.id, client_address: req.socket.remoteAddress ?? '', user_agent: req.headers['user-agent'] },
      is_head: req.method === 'HEAD',
      access: createStreamAccess({ isCredentialActive, resolveResource }, caller, params, resource),
      onEnd: () => client.abort(),
    }
    return keyed
      ? keyed.runOnce((claimKey) => {
          const beforeHandler = async () => {
            const response = await claimKey()
            // The resource may have changed during the wait for another request with this key.
            if (!response) await resolve()
            return response
          }
          return target.run(context, { ...operationRequest, beforeHandler })
        })
      : target.run(context, operationRequest)
  }
}

/** Access ends with the credential, or when the slug no longer names the same project for the caller. */
export function createStreamAccess(
  { isCredentialActive, resolveResource }: Pick<OperationHandlerOptions, 'isCredentialActive' | 'resolveResource'>,
  caller: Caller,
  { slug }: Record<string, string>,
  resource: string | undefined,
): StreamAccess {
  const { credential_id } = caller
  return {
    key: `${credential_id} ${slug} ${resource}`,
    async isGranted() {
      if (!(await isCredentialActive(credential_id))) return false
      if (slug === undefined) return true
      try {
        return (await resolveResource?.(caller, 'project', { slug }))?.id === resource
      } catch (error) {
        if (error instanceof Problem && error.status === 404) return false
        throw error
      }
    },
  }
}

/** No route has this method and path. */
export function answerUnmatched({ req, pathname, caller }: ApiRequest, routes: RouteTable): ApiResponse {
  const found = routes.listAt(pathname).filter(({ target }) => target.kind !== 'remote')
  const allow = listMethods(found.map(({ method }) => method))
  if (req.method === 'OPTIONS' && (allow.length > 0 || pathname === '*'))
    return noContent({ allow: (allow.length > 0 ? allow : allMethods).join(', ') })
  const isOpen = found[0] === undefined ? !isApiPath(pathname) : found[0].target.kind === 'public'
  if (!caller && !isOpen) throw unauthorized()
  throw found[0] === undefined ? routeNotFound() : new MethodNotAllowed(req.method ?? '', allow)
}

const allMethods = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']

const listMethods = (methods: string[]): string[] =>
  methods.length === 0 ? [] : [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']

/** Under these prefixes, unauthenticated requests to unknown paths get a 401 instead of a 404. */
const isApiPath = (pathname: string) => pathname === '/v1' || ['/v1/', '/instance/', '/remote/'].some((start) => pathname.startsWith(start))

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
