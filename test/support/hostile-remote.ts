/**
 * Stands in for another instance that means no good, over real HTTP: it is in order until it is told what to answer. It writes down
 * all that it was sent.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Project } from '../../server/contract/projects.ts'
import { openApiDocument } from '../../server/http/openapi.ts'

export interface HostileRemote {
  url: string
  requests: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[] }[]
  /** Connections that were opened to it. */
  connections(): number
  /** What it answers from now on to everything; without one it is in order. */
  say(how?: (res: ServerResponse, req: IncomingMessage) => unknown): void
  /** Bytes on the wire from now on, in place of an answer; the connection ends with them unless it is to stay. */
  write(bytes: string | Buffer, options?: { stays_open?: boolean }): void
  close(): Promise<void>
}

export const sayJson =
  (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  (res: ServerResponse) => {
    res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    res.end(JSON.stringify(value))
  }

export async function startHostileRemote(tls?: { key: string; cert: string }): Promise<HostileRemote> {
  const requests: HostileRemote['requests'] = []
  const inOrder = sayJson({ projects: [], next_cursor: null })
  let how: (res: ServerResponse, req: IncomingMessage) => unknown = inOrder
  let connections = 0
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    requests.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, raw: req.rawHeaders })
    res.on('error', () => {})
    void how(res, req)
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
    say: (next = inOrder) => void (how = next),
    write(bytes, { stays_open = false } = {}) {
      how = (res) => (stays_open ? res.socket?.write(bytes) : res.socket?.end(bytes))
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
  const described = openApiDocument().paths['/v1/projects/{slug}']?.get?.responses['200']?.content?.['application/json']?.example
  if (described === undefined) throw new Error('The OpenAPI document has no example of a project.')
  return { ...(described as { project: Project }).project, slug, name: slug }
}
