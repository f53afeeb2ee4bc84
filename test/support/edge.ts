import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net'
import { createEdge, type Edge, type EdgeOptions, type Route } from '../../server/edge/server.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createTestClock, type TestClock } from './test-clock.ts'
import { until } from './until.ts'

/** Both request paths of the edge. Every edge test runs on each. */
export const edgePaths = [
  { name: 'plain path', fast_path: true },
  { name: 'ordinary path', fast_path: false },
]

export interface TestEdge {
  edge: Edge
  port: number
  /** The time by the edge's clock, in milliseconds since 1970. */
  now(): number
  /** Advances the edge's clock, which its timeouts use. Time also passes on its own. */
  advance(ms: number): Promise<void>
  /** Advances the clock until there is a response, for responses that only come after a timeout. */
  advanceUntilDone<T>(response: Promise<T>): Promise<T>
  /** Routes `app.localhost` to a port. */
  routeToPort(port: number, host?: string): Promise<void>
  close(): Promise<void>
}

export const routeOwner = {
  project_id: 'prj_test',
  project_name: 'My app',
  deployment_id: 'dpl_test',
  dashboard_url: 'http://localhost:4600/app/projects/app',
}

export async function startEdge(options: Partial<EdgeOptions> & { clock?: TestClock } = {}): Promise<TestEdge> {
  const clock = options.clock ?? createTestClock()
  const edge = createEdge({ log: silentLog, ...options, clock })
  const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
  return {
    edge,
    port,
    now: clock.now,
    advance: (ms) => clock.advance(ms),
    async advanceUntilDone(response) {
      let isSettled: true | undefined
      const onSettled = () => void (isSettled = true)
      response.then(onSettled, onSettled)
      await until(() => clock.advance(5_000).then(() => isSettled), { what: 'an answer after a timeout' })
      return response
    },
    routeToPort: (upstream, host = 'app.localhost') => edge.setRoute(host, upstreamRoute(upstream), { drain_ms: 1000 }),
    close: () => edge.close(),
  }
}

export const upstreamRoute = (port: number): Route => ({ ...routeOwner, kind: 'upstream', host: '127.0.0.1', port })

export interface ListeningServer<S> {
  server: S
  port: number
  close(): Promise<void>
}

/** An app on Node's own HTTP server. */
export async function startApp(listener: RequestListener): Promise<ListeningServer<Server>> {
  const server = createServer(listener)
  const port = await listenOnLoopback(server)
  return {
    server,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** An app on raw sockets, for responses that no server would send. `sockets` are the open connections. */
export async function startRawApp(onSocket: (socket: Socket) => void): Promise<ListeningServer<NetServer> & { sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createNetServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  const port = await listenOnLoopback(server)
  return {
    server,
    port,
    sockets,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function listenOnLoopback(server: NetServer): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

export interface HttpResponse {
  status: number
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  body: Buffer
  text: string
  trailers: NodeJS.Dict<string>
}

/** One request with Node's own client. Rejects if the response is incomplete. */
export function get(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; host?: string } = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        agent: false,
        headers: { host: options.host ?? 'app.localhost', ...options.headers },
      },
      (response) => void collectResponse(response).then(resolve, reject),
    )
    clientRequest.on('error', reject)
    clientRequest.end(options.body)
  })
}

export async function collectResponse(response: IncomingMessage): Promise<HttpResponse> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  const body = Buffer.concat(parts)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    body,
    text: body.toString(),
    trailers: response.trailers,
  }
}

/** Sends raw bytes. Resolves with everything received until the connection ends or until `until` matches. */
export function sendRaw(port: number, bytes: string, options: { until?: RegExp } = {}): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    let text = ''
    const finish = (closed: boolean): void => {
      socket.destroy()
      resolve({ text, closed })
    }
    socket.on('data', (part) => {
      text += part.toString('latin1')
      if (options.until?.test(text)) finish(false)
    })
    socket.on('error', () => {})
    socket.on('close', () => finish(true))
    socket.write(bytes, 'latin1')
  })
}
