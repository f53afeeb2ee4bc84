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
 * h3 carries requests and answers (bodies, streams with back-pressure, HEAD) between Node and the pipeline. Its router, which
 * forgives other spellings of a path, and its errors, which echo the URL, have no part in it.
 */
export function createApp(answer: (req: IncomingMessage, res: ServerResponse) => Promise<Answer>) {
  const app = new H3({ silent: true, allowMalformedURL: true })
  app.all('/**', async (event) => {
    const node = event.runtime?.node
    if (!node?.res) throw new Error('the gate runs on node:http alone')
    const { status, headers, body } = await answer(node.req as IncomingMessage, node.res as ServerResponse)
    return new HTTPResponse(body, { status, headers })
  })
  return toNodeHandler(app)
}
