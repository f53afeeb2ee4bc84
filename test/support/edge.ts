import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, createServer as createNetServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net'
import { createEdge, type Edge, type EdgeOptions, type Route } from '../../server/edge/index.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createTestClock, type TestClock } from './test-clock.ts'
import { until } from './until.ts'

/** Both ways through the edge: every test of it runs on each. */
export const paths = [
  { name: 'plain path', fast_path: true },
  { name: 'ordinary path', fast_path: false },
]

export interface TestEdge {
  edge: Edge
  port: number
  /** Moves the edge's clock forward, by which its timeouts run. Time also passes by itself. */
  advance(ms: number): Promise<void>
  /** Moves it on and on until there is an answer: for what comes only when a timeout ends. */
  passing<T>(answer: Promise<T>): Promise<T>
  /** `app.localhost` and what it leads to. */
  toPort(port: number, host?: string): Promise<void>
  close(): Promise<void>
}

export const owner = {
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
    advance: (ms) => clock.advance(ms),
    async passing(answer) {
      let isThere: true | undefined
      const noted = () => void (isThere = true)
      answer.then(noted, noted)
      await until(() => clock.advance(5_000).then(() => isThere), { what: 'an answer after a timeout' })
      return answer
    },
    toPort: (upstream, host = 'app.localhost') => edge.setRoute(host, upstreamRoute(upstream), { drain_ms: 1000 }),
    close: () => edge.close(),
  }
}

export const upstreamRoute = (port: number): Route => ({ ...owner, kind: 'upstream', host: '127.0.0.1', port })

export interface Listening<S> {
  server: S
  port: number
  close(): Promise<void>
}

/** An app by Node's own server. */
export async function startApp(listener: RequestListener): Promise<Listening<Server>> {
  const server = createServer(listener)
  const port = await listening(server)
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

/** An app on bare sockets, for answers that no server would give. `sockets` are those that are open. */
export async function startRawApp(onSocket: (socket: Socket) => void): Promise<Listening<NetServer> & { sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createNetServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  const port = await listening(server)
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

async function listening(server: NetServer): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

export interface Got {
  status: number
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  body: Buffer
  text: string
  trailers: NodeJS.Dict<string>
}

/** One request by Node's own client. Rejects when the answer is cut. */
export function get(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; host?: string } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        agent: false,
        headers: { host: options.host ?? 'app.localhost', ...options.headers },
      },
      (answer) => void collect(answer).then(resolve, reject),
    )
    asked.on('error', reject)
    asked.end(options.body)
  })
}

export async function collect(answer: IncomingMessage): Promise<Got> {
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part as Buffer)
  const body = Buffer.concat(parts)
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    rawHeaders: answer.rawHeaders,
    body,
    text: body.toString(),
    trailers: answer.trailers,
  }
}

/** Writes bytes as they are and resolves with all that comes until the connection ends, or until `until` matches. */
export function raw(port: number, bytes: string, options: { until?: RegExp } = {}): Promise<{ text: string; closed: boolean }> {
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
