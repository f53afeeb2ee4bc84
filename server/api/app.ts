import { H3, toNodeHandler } from 'h3'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { Handlers, OperationId, Operations } from '../contract/index.ts'
import type { EventStream, HandlerInput, OperationSpec } from '../contract/operation.ts'
import type { OperationContext } from '../features/context.ts'
import type { PublicRoute } from './public-routes/public-route.ts'
import { parseBody, parseParams, parseQuery } from './parse-input.ts'
import type { OperationRunner, ApiRoute } from './pipeline.ts'
import { fileResponse, jsonResponse, noContent, textResponse } from './response.ts'
import type { ApiResponse } from './response.ts'
import { createRouteTable } from './route-table.ts'
import type { RouteTable } from './route-table.ts'
import { streamHeaders } from './sse.ts'
import type { Streams } from './sse.ts'

/** Mounts every operation at its path, /v1 operations also at their alias without /v1, and the public routes. */
export function mountRoutes(parts: { handlers: Handlers<OperationContext>; streams: Streams; publicRoutes: PublicRoute[] }): RouteTable<ApiRoute> {
  const routes = createRouteTable<ApiRoute>()
  for (const id of Object.keys(allOperations) as OperationId[]) {
    const { method, path } = allOperations[id]
    const run = bindOperation(id, parts.handlers, parts.streams)
    routes.add(method, path, { kind: 'operation', id, is_alias: false, run })
    if (path.startsWith('/v1/')) routes.add(method, path.slice('/v1'.length), { kind: 'operation', id, is_alias: true, run })
  }
  for (const publicRoute of parts.publicRoutes) routes.add(publicRoute.method ?? 'GET', publicRoute.path, { kind: 'public', publicRoute })
  return routes
}

function bindOperation<Id extends OperationId>(id: Id, handlers: Handlers<OperationContext>, streams: Streams): OperationRunner {
  const spec: OperationSpec = allOperations[id]
  const handler = handlers[id]
  const { success } = spec
  return async (context, request) => {
    const params = parseParams(spec.params, request.params)
    const query = parseQuery(spec.query, request.query)
    // A reconnecting browser sends the header, which is newer than the query parameter in its URL.
    if ('events' in success && request.headers.last_event_id) query.last_event_id = request.headers.last_event_id
    const body = spec.body ? parseBody(spec.body, request.body, request.headers) : undefined
    const upload = spec.upload ? request.upload(spec.upload) : undefined
    const replayed = await request.beforeHandler?.()
    if (replayed) return replayed
    const input: unknown = { params, query, body, upload }
    const output: unknown = await handler(context, input as HandlerInput<Operations[Id]>)

    if ('json' in success) return jsonResponse(success.status, output)
    if ('content_type' in success) {
      const cacheHeaders: Record<string, string> = success.max_age_s === undefined ? {} : { 'cache-control': `private, max-age=${success.max_age_s}` }
      if (!success.is_stream) return textResponse(200, success.content_type, output as Uint8Array<ArrayBuffer>, cacheHeaders)
      return fileResponse(success.content_type, streams.fileStream(output as AsyncIterable<Uint8Array>, request.access))
    }
    if (!('events' in success)) return noContent()
    const events = output as EventStream
    if (!request.is_head) {
      const owner = { access: request.access, request_id: context.request_id, onEnd: request.onEnd }
      return { status: 200, headers: { ...streamHeaders }, body: streams.eventStream(events, owner) }
    }
    await events[Symbol.asyncIterator]().return?.()
    return { status: 200, headers: { ...streamHeaders }, body: null }
  }
}

/**
 * Wraps the pipeline in an h3 app. Responses are written directly to Node, because converting them to web headers and streams and back
 * would cost a third of a request and twice the memory of an open stream. h3's router is not used because it accepts other spellings of
 * a path, and its errors are not used because they echo the URL.
 */
export function createApp(handle: (req: IncomingMessage, res: ServerResponse) => Promise<ApiResponse>) {
  const app = new H3({ silent: true, allowMalformedURL: true })
  app.all('/**', async (event) => {
    const node = event.runtime?.node
    if (!node?.res) throw new Error('the API server needs node:http')
    const [req, res] = [node.req as IncomingMessage, node.res as ServerResponse]
    const { status, headers, body } = await handle(req, res)
    res.writeHead(status, headers)
    if (typeof body === 'function') {
      const closed = new Promise((resolve) => res.once('close', resolve))
      body(res)
      await closed
    } else res.end(req.method === 'HEAD' ? null : body)
    // The response is complete; h3 sees that the headers were sent.
    return undefined
  })
  return toNodeHandler(app)
}
