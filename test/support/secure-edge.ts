import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { startApp, startEdge, type Listening, type TestEdge } from './edge.ts'
import { createTestAuthority } from './tls.ts'

export interface Seen {
  method: string
  url: string
  headers: string[]
  body: string
  /** Whether the app was told of its end. */
  whole: boolean
  socket: Socket
}

export interface SecureEdge {
  edge: TestEdge
  /** Of HTTPS. */
  port: number
  ca: string
  app: Listening<Server>
  seen: Seen[]
  /** Whether plain HTTP is sent on. */
  only: boolean
  close(): Promise<void>
}

/** An edge with HTTPS before an app of many kinds of answer. */
export async function startSecureEdge(options: { fast_path?: boolean; look_secret?: string; head_timeout_ms?: number } = {}): Promise<SecureEdge> {
  const authority = createTestAuthority()
  const seen: Seen[] = []
  const cache = { directory: null, memory_bytes: () => 2 ** 24, disk_bytes: () => 0 }
  const edge = await startEdge({ ...options, httpsOnly: () => world.only, identityOf: authority.identityFor, cache })
  const app = await startApp((asked, answer) => {
    const one: Seen = { method: asked.method ?? '', url: asked.url ?? '', headers: asked.rawHeaders, body: '', whole: false, socket: asked.socket }
    seen.push(one)
    asked.on('data', (bytes: Buffer) => (one.body += bytes.toString('latin1')))
    asked.on('end', () => {
      one.whole = true
      reply(asked, answer, one)
    })
  })
  for (const host of ['app.localhost', 'other.localhost', 'www.example.com']) await edge.toPort(app.port, host)
  const world: SecureEdge = {
    edge,
    port: (await edge.edge.listenSecure({ host: '127.0.0.1', port: 0 })).port,
    ca: (await authority.ensure()).certificate,
    app,
    seen,
    only: false,
    async close() {
      await edge.close()
      await app.close()
    },
  }
  return world
}

function reply(asked: IncomingMessage, answer: ServerResponse, one: Seen): void {
  const url = new URL(one.url, 'http://x')
  const n = Number(url.searchParams.get('n'))
  const replies: Record<string, () => unknown> = {
    '/size': () => answer.end(Buffer.alloc(n, 'k')),
    '/hold': () => answer.write('begun'),
    '/cut'() {
      answer.writeHead(200, { 'content-length': 1000 })
      answer.write('half', () => answer.destroy())
    },
    '/trailers'() {
      answer.write('one,')
      answer.addTrailers({ 'X-Sum': '42' })
      answer.end('two')
    },
    '/many'() {
      const cookies = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']
      const hops = ['Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'Keep-Alive', 'timeout=5']
      const twice = ['ETag', '"1"', 'Etag', '"2"']
      answer.writeHead(200, [...cookies, ...hops, ...twice, 'Strict-Transport-Security', 'max-age=1000', 'X-Latin', 'caf\u00e9']).end('many')
    },
    '/kept': () => answer.writeHead(200, { 'cache-control': 'max-age=60', 'strict-transport-security': 'max-age=1000' }).end('kept'),
    '/status': () => answer.writeHead(n, { etag: '"x"' }).end(),
    '/early': () => answer.writeHead(413).end('no'),
  }
  const known = replies[url.pathname]
  if (known) return void known()
  answer.setHeader('content-type', 'application/json')
  answer.end(JSON.stringify({ headers: asked.rawHeaders, body: one.body, method: one.method, trailers: asked.rawTrailers }))
}

/** The headers that the app was sent, as it told in its answer. */
export function headersOf(text: string): Record<string, string> {
  const raw = (JSON.parse(text) as { headers: string[] }).headers
  return Object.fromEntries(raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? '']] : [])))
}
