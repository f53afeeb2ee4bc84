/**
 * Stands in for another instance that means no good, over real HTTP: it is in order until it is told what to answer. It writes down
 * all that it was sent.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Project } from '../../server/contract/projects.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'

export interface HostileRemote {
  url: string
  requests: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[] }[]
  /** Connections that were opened to it. */
  connections(): number
  /** What it answers from now on to everything; without one it is in order. */
  respondWith(how?: (res: ServerResponse, req: IncomingMessage) => unknown): void
  /** Bytes on the wire from now on, in place of an answer; the connection ends with them unless it is to stay. */
  respondWithBytes(bytes: string | Buffer, options?: { stays_open?: boolean }): void
  close(): Promise<void>
}

export const jsonResponder =
  (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  (res: ServerResponse) => {
    res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    res.end(JSON.stringify(value))
  }

export async function startHostileRemote(tls?: { key: string; cert: string }): Promise<HostileRemote> {
  const requests: HostileRemote['requests'] = []
  const validResponder = jsonResponder({ projects: [], next_cursor: null })
  let responder: (res: ServerResponse, req: IncomingMessage) => unknown = validResponder
  let connections = 0
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    requests.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, raw: req.rawHeaders })
    res.on('error', () => {})
    void responder(res, req)
  }
  const server: Server = tls ? createSecureServer(tls, listener) : createServer(listener)
  server.on('connection', (socket) => {
    connections++
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    respondWith: (next = validResponder) => void (responder = next),
    respondWithBytes(bytes, { stays_open = false } = {}) {
      responder = (res) => (stays_open ? res.socket?.write(bytes) : res.socket?.end(bytes))
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** A project as the API describes one. */
export function sampleProject(slug: string): Project {
  const example = openApiDocument().paths['/v1/projects/{slug}']?.get?.responses['200']?.content?.['application/json']?.example
  if (example === undefined) throw new Error('The OpenAPI document has no example of a project.')
  return { ...(example as { project: Project }).project, slug, name: slug }
}
