/** A malicious remote instance over real HTTP. It behaves correctly until a test sets its response, and records everything it receives. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Project } from '../../server/contract/projects.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'

export interface HostileRemote {
  url: string
  requests: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[] }[]
  /** The number of connections that were opened. */
  connections(): number
  /** Sets the response to every request; without an argument it behaves correctly. */
  respondWith(how?: (res: ServerResponse, req: IncomingMessage) => unknown): void
  /** Sends raw bytes instead of a response. The connection ends after them unless `stays_open` is set. */
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

/** A valid project as defined by the API. */
export function sampleProject(slug: string): Project {
  const example = openApiDocument().paths['/v1/projects/{slug}']?.get?.responses['200']?.content?.['application/json']?.example
  if (example === undefined) throw new Error('The OpenAPI document has no example of a project.')
  return { ...(example as { project: Project }).project, slug, name: slug }
}
