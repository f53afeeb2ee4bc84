import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { EdgeOptions } from '../../server/edge/server.ts'
import { startApp, startEdge, type ListeningServer, type TestEdge } from './edge.ts'
import { createTestAuthority } from './tls.ts'

export interface ReceivedRequest {
  method: string
  url: string
  headers: string[]
  body: string
  /** Whether the app received the end of the request. */
  whole: boolean
  socket: Socket
}

export interface SecureEdge {
  edge: TestEdge
  /** The HTTPS port. */
  port: number
  ca: string
  app: ListeningServer<Server>
  requests: ReceivedRequest[]
  /** Whether plain HTTP is redirected. */
  https_only: boolean
  close(): Promise<void>
}

/** An edge with HTTPS in front of an app with many kinds of responses. */
export async function startSecureEdge(options: Pick<EdgeOptions, 'fast_path' | 'header_timeout_ms' | 'probe_secret'> = {}): Promise<SecureEdge> {
  const authority = createTestAuthority()
  const requests: ReceivedRequest[] = []
  const cache = { directory: null, memory_bytes: () => 2 ** 24, disk_bytes: () => 0 }
  const edge = await startEdge({ ...options, isHttpsRedirectEnabled: () => secureEdge.https_only, getTlsCredentials: authority.identityFor, cache })
  const app = await startApp((req, response) => {
    const one: ReceivedRequest = {
      method: req.method ?? '',
      url: req.url ?? '',
      headers: req.rawHeaders,
      body: '',
      whole: false,
      socket: req.socket,
    }
    requests.push(one)
    req.on('data', (bytes: Buffer) => (one.body += bytes.toString('latin1')))
    req.on('end', () => {
      one.whole = true
      respond(req, response, one)
    })
  })
  for (const host of ['app.localhost', 'other.localhost', 'www.example.com']) await edge.routeToPort(app.port, host)
  const secureEdge: SecureEdge = {
    edge,
    port: (await edge.edge.listenSecure({ host: '127.0.0.1', port: 0 })).port,
    ca: (await authority.ensure()).certificate,
    app,
    requests,
    https_only: false,
    async close() {
      await edge.close()
      await app.close()
    },
  }
  return secureEdge
}

function respond(req: IncomingMessage, response: ServerResponse, one: ReceivedRequest): void {
  const url = new URL(one.url, 'http://x')
  const n = Number(url.searchParams.get('n'))
  const replies: Record<string, () => unknown> = {
    '/size': () => response.end(Buffer.alloc(n, 'k')),
    '/hold': () => response.write('begun'),
    '/cut'() {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('half', () => response.destroy())
    },
    '/trailers'() {
      response.write('one,')
      response.addTrailers({ 'X-Sum': '42' })
      response.end('two')
    },
    '/many'() {
      const cookies = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']
      const hops = ['Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'Keep-Alive', 'timeout=5']
      const twice = ['ETag', '"1"', 'Etag', '"2"']
      response.writeHead(200, [...cookies, ...hops, ...twice, 'Strict-Transport-Security', 'max-age=1000', 'X-Latin', 'caf\u00e9']).end('many')
    },
    '/kept': () => response.writeHead(200, { 'cache-control': 'max-age=60', 'strict-transport-security': 'max-age=1000' }).end('kept'),
    '/status': () => response.writeHead(n, { etag: '"x"' }).end(),
    '/early': () => response.writeHead(413).end('no'),
  }
  const known = replies[url.pathname]
  if (known) return void known()
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ headers: req.rawHeaders, body: one.body, method: one.method, trailers: req.rawTrailers }))
}

/** The headers that the app received, as reported in its response. */
export function receivedHeaders(text: string): Record<string, string> {
  const raw = (JSON.parse(text) as { headers: string[] }).headers
  return Object.fromEntries(raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? '']] : [])))
}
