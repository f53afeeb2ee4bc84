import { H3, HTTPResponse, toNodeHandler } from 'h3'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { Handlers, OperationId } from '../contract/index.ts'
import type { Context } from '../features/context.ts'
import type { Door } from './doors.ts'
import { bind } from './pipeline.ts'
import type { Target } from './pipeline.ts'
import type { Answer } from './respond.ts'
import { createRoutes } from './routes.ts'
import type { Routes } from './routes.ts'
import type { Streams } from './sse.ts'

/** Mounts the record: every operation at its path, those of /v1 at their alias too, and the doors. */
export function mount(parts: { handlers: Handlers<Context>; streams: Streams; doors: Door[] }): Routes<Target> {
  const routes = createRoutes<Target>()
  for (const id of Object.keys(allOperations) as OperationId[]) {
    const { method, path } = allOperations[id]
    const run = bind(id, parts.handlers, parts.streams)
    routes.add(method, path, { kind: 'operation', id, is_alias: false, run })
    if (path.startsWith('/v1/')) routes.add(method, path.slice('/v1'.length), { kind: 'operation', id, is_alias: true, run })
  }
  for (const door of parts.doors) routes.add('GET', door.path, { kind: 'door', door })
  return routes
}

/**
 * h3 stands between Node and the pipeline and carries streams, with their back-pressure. A plain answer goes straight to Node:
 * as web headers and back it would cost a third of the whole request. h3's router, which forgives other spellings of a path,
 * and its errors, which echo the URL, have no part in it.
 */
export function createApp(answer: (req: IncomingMessage, res: ServerResponse) => Promise<Answer>) {
  const app = new H3({ silent: true, allowMalformedURL: true })
  app.all('/**', async (event) => {
    const node = event.runtime?.node
    if (!node?.res) throw new Error('the gate runs on node:http alone')
    const [req, res] = [node.req as IncomingMessage, node.res as ServerResponse]
    const { status, headers, body } = await answer(req, res)
    if (body instanceof ReadableStream) return new HTTPResponse(body, { status, headers })
    res.writeHead(status, headers).end(req.method === 'HEAD' ? null : body)
    // Nothing is left to say; h3 sees that the headers are out.
    return undefined
  })
  return toNodeHandler(app)
}
