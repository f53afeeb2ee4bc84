import type { H3Event } from 'h3'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OperationId } from '../contract/index.ts'
import type { OperationSpec } from '../contract/operation.ts'
import { allOperations } from '../contract/index.ts'
import type { Caller } from '../features/context.ts'
import { newId } from '../lib/id.ts'
import { addressKey, type RateKey, type RateState } from './rate-limit.ts'
import type { RouteTable, RouteMatch } from './route-table.ts'

/** One request on its way through the middleware, and what each has learned about it. */
export interface ApiRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** `req_…`; in the response, in errors and in the log. */
  readonly id: string
  /** Raw, without the query. */
  readonly pathname: string
  readonly query: string
  /** The route of exactly this method and path, and its decoded parameters. */
  readonly match: RouteMatch | undefined
  /** Set by `receive`; empty for an upload, which the handler streams. */
  body: Buffer
  /** Set by `identify`. */
  caller: Caller | undefined
  /** Set by `limitRate`, unless the route is not limited. */
  rate: RateState | undefined
  rate_key: RateKey
}

declare module 'h3' {
  interface H3EventContext {
    api_request?: ApiRequest
  }
}

/** `routeIndex`: the route that h3 found, whose path may be another spelling of the requested one. */
export function openRequest(event: H3Event, routes: RouteTable, routeIndex: number): ApiRequest {
  const node = event.runtime?.node
  if (!node?.res) throw new Error('The API server needs node:http.')
  const [req, res] = [node.req as IncomingMessage, node.res as ServerResponse]
  const [pathname, query] = splitTarget(req.url ?? '')
  const request: ApiRequest = {
    req,
    res,
    id: newId('req'),
    pathname,
    query,
    match: routes.match(routeIndex, req.method ?? '', pathname),
    body: Buffer.alloc(0),
    caller: undefined,
    rate: undefined,
    rate_key: addressKey(req.socket.remoteAddress),
  }
  event.context.api_request = request
  return request
}

export function requestOf(event: H3Event): ApiRequest {
  const request = event.context.api_request
  if (!request) throw new Error('openRequest comes first.')
  return request
}

/** The operation of a request, here or on another instance; null for public routes and unknown paths. */
export function operationOf({ match }: ApiRequest): OperationId | null {
  return match === undefined || match.target.kind === 'public' ? null : match.target.id
}

export function specOf(request: ApiRequest): OperationSpec | undefined {
  const id = operationOf(request)
  return id === null ? undefined : allOperations[id]
}

function splitTarget(url: string): [pathname: string, query: string] {
  const queryStart = url.indexOf('?')
  return queryStart === -1 ? [url, ''] : [url.slice(0, queryStart), url.slice(queryStart + 1)]
}
