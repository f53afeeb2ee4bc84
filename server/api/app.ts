import { type H3Event, H3, type Middleware, toNodeHandler } from 'h3'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { OperationId } from '../contract/index.ts'
import type { BeginChange } from '../features/activity-recorder.ts'
import type { OperationHandlers } from '../features/context.ts'
import { openRequest, requestOf } from './api-request.ts'
import { createMiddleware, type MiddlewareOptions } from './middleware.ts'
import { answerUnmatched, createOperationHandler, type OperationHandlerOptions } from './operation-handler.ts'
import type { PublicRequest, PublicRoute } from './public-routes/public-route.ts'
import { headerValues, isLocal } from './http-request.ts'
import type { ApiRequest } from './api-request.ts'
import type { ApiResponse } from './response.ts'
import { type ApiRoute, createRouteTable, listRouteMethods, toRouterPattern } from './route-table.ts'
import { bindOperation } from './run-operation.ts'
import type { Streams } from './sse.ts'

export interface AppOptions extends MiddlewareOptions, OperationHandlerOptions {
  handlers: OperationHandlers
  streams: Streams
  publicRoutes: readonly PublicRoute[]
  /** Records changes in the activity log. */
  beginChange?: BeginChange | undefined
  assertWritable?: (() => void) | undefined
}

/** The API as an h3 app. Its middleware follows the contract's order of checks; the handlers add resource, input, 503, 402 and 409. */
export function createApp(options: AppOptions): (req: IncomingMessage, res: ServerResponse) => unknown {
  const app = new H3({ silent: true, allowMalformedURL: true })
  const routes = createRouteTable(listRoutes(options))
  const { respond, receive, identify, limitRate } = createMiddleware(options)
  const answerOperation = createOperationHandler(options)

  const answer = async (event: H3Event): Promise<ApiResponse> => {
    const request = requestOf(event)
    const { match } = request
    if (match?.target.kind === 'public') return match.target.publicRoute.handle(createPublicRequest(request))
    return match === undefined ? answerUnmatched(request, routes) : answerOperation(request, match)
  }
  const middlewareOf = (index: number): Middleware[] => {
    const open: Middleware = (event, next) => {
      openRequest(event, routes, index)
      return next()
    }
    return [open, respond, receive, identify, limitRate]
  }
  for (const [index, route] of routes.routes.entries())
    for (const method of listRouteMethods(route)) app.on(method, toRouterPattern(route.path), answer, { middleware: middlewareOf(index) })
  app.all('/**', answer, { middleware: middlewareOf(-1) })
  return toNodeHandler(app)
}

/** Every operation at its path, /v1 operations also at their alias without /v1 and on other instances, and the public routes. */
function listRoutes({ handlers, streams, publicRoutes, proxyToRemote, beginChange, assertWritable }: AppOptions): ApiRoute[] {
  const operations = (Object.keys(allOperations) as OperationId[]).flatMap((id): ApiRoute[] => {
    const { method, path } = allOperations[id]
    const run = bindOperation(id, handlers, streams, { beginChange, assertWritable })
    const alias: ApiRoute[] = path.startsWith('/v1/')
      ? [{ method, path: path.slice('/v1'.length), target: { kind: 'operation', id, is_alias: true, run } }]
      : []
    const remote: ApiRoute[] = proxyToRemote ? [{ method, path: `/remote/{remote}${path}`, target: { kind: 'remote', id } }] : []
    return [{ method, path, target: { kind: 'operation', id, is_alias: false, run } }, ...alias, ...remote]
  })
  return [
    ...operations,
    ...publicRoutes.map((publicRoute): ApiRoute => ({
      method: publicRoute.method ?? 'GET',
      path: publicRoute.path,
      target: { kind: 'public', publicRoute },
    })),
  ]
}

const createPublicRequest = ({ req, query, body, match, caller }: ApiRequest): PublicRequest => ({
  caller,
  query: new URLSearchParams(query),
  params: match?.params ?? {},
  headers: req.headers,
  headerValues: (name) => headerValues(req, name),
  body,
  is_local: isLocal(req),
  is_head: req.method === 'HEAD',
  accepts_html: /\btext\/html\b/i.test(req.headers.accept ?? ''),
  is_browser: req.headers['sec-fetch-site'] !== undefined,
})
