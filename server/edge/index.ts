import { createServer, type Server } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { answerHead, createDateLine } from './answer.ts'
import { createCaching } from './cache/index.ts'
import type { CacheOptions, Edge, Page, Route } from './edge.ts'
import type { Gate } from './gate.ts'
import { createHttp2Door } from './http2.ts'
import { limits } from './limits.ts'
import { listenFrom, tryListen } from './listen.ts'
import { createMeter } from './meter.ts'
import { openListener } from './network.ts'
import { serveOrdinary } from './ordinary.ts'
import { refusalAnswer } from './pages.ts'
import { servePlain } from './plain.ts'
import { createRequestIds } from './request-id.ts'
import { hostName } from './host.ts'
import { createRouter } from './router.ts'
import { createSweep, type Timed } from './sweep.ts'
import { createTlsDoor, type IdentityOf } from './tls.ts'
import { serveTunnels, wantsWebSocket } from './tunnel.ts'

export type { Edge, Route } from './edge.ts'

export interface EdgeOptions {
  log: Log
  clock?: Clock
  /** The plain path for plain requests; without it all go by Node's own parser. Only speed differs. Default true. */
  fast_path?: boolean
  connect_timeout_ms?: number
  /** Until the head of an app's answer; then 504. */
  upstream_timeout_ms?: number
  /** Asked for a name that has no route: the page that it gets, or undefined for 404. Most names of a big instance are never asked for. */
  unknown?: (host: string) => Page | undefined
  /** How long a request waits for an app that is starting. */
  starting_ms?: number
  /** Somebody asked for an app that sleeps; called once for each route. */
  wake?: (route: Route) => void
  /** Requests of the platform itself bear it in `X-Homeport-Look` and do not count as visits. It goes no further than here. */
  look_secret?: string
  /** A cookie that browsers on the network may send to apps as well as to the dashboard; apps do not get it. */
  private_cookie?: string
  head_timeout_ms?: number
  /** Within each such window a request body has to make progress. */
  body_window_ms?: number
  /** Whether requests are counted and timed, asked for each. Default: no. */
  metrics?: () => boolean
  /** Without it nothing is stored. */
  cache?: CacheOptions
  /** What a TLS handshake shows for a name that routes, or for one of our addresses; without it there is no HTTPS. */
  identityOf?: IdentityOf
  /** Whether plain HTTP is sent on to HTTPS. */
  httpsOnly?: () => boolean
}

export function createEdge(options: EdgeOptions): Edge {
  const clock = options.clock ?? systemClock
  const sweep = createSweep(clock, limits.sweep_ms)
  const meter = createMeter({ clock, on: options.metrics ?? (() => false) })
  const dateLine = createDateLine(clock)
  const caching = createCaching({ clock, log: options.log, dateLine, cache: options.cache })
  const router = createRouter(clock, sweep, meter, {
    connect_ms: options.connect_timeout_ms ?? limits.connect_ms,
    answer_ms: options.upstream_timeout_ms ?? limits.answer_ms,
    unknown: options.unknown,
    cacheOf: (projectId) => caching.of(projectId),
    starting_ms: options.starting_ms ?? limits.starting_ms,
    wake: options.wake,
  })
  const gate: Gate = {
    router,
    sweep,
    log: options.log,
    meter,
    newId: createRequestIds(clock),
    clock,
    dateLine,
    starting_ms: options.starting_ms ?? limits.starting_ms,
    look_secret: options.look_secret,
    network: new WeakMap(),
    private_cookie: options.private_cookie,
    secure: { port: 0, always: options.httpsOnly ?? (() => false), misplaced: new WeakSet() },
    plain: new Set(),
    under_way: new WeakMap(),
    body_window_ms: options.body_window_ms ?? limits.body_window_ms,
    head_ms: options.head_timeout_ms ?? limits.head_ms,
  }
  const sockets = new Set<Socket>()
  const server = createListener(gate, sockets, options.fast_path ?? true)
  const twin = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit('connection', socket))

  const http2 = createHttp2Door(gate)
  const http1 = (socket: Socket): void => void server.emit('connection', socket)
  const shake = options.identityOf && createTlsDoor(gate, options.identityOf, { http1, http2: http2.enter })
  const secure = [0, 1].map(() =>
    createNetServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      shake?.(socket)
    }),
  )

  for (const one of secure) one.maxConnections = limits.connections

  const openings = new Set<{ close(): Promise<void> }>()

  return {
    async listen({ host, port }) {
      const got = await listenFrom(server, host, port)
      // `*.localhost` may resolve to either loopback address; where there is no IPv6, or its port is taken, the other must do.
      if (host === '127.0.0.1' && (await tryListen(twin, '::1', got).catch(() => undefined)) === undefined) {
        options.log.info('edge.no_ipv6_loopback', { port: got })
      }
      return { port: got, fell_back: port !== 0 && got !== port }
    },
    async listenSecure({ host, port }) {
      const [first, second] = secure
      if (!shake || !first || !second) throw new Error('The edge has no certificates to show.')
      const got = await listenFrom(first, host, port)
      if (host === '127.0.0.1') await tryListen(second, '::1', got).catch(() => undefined)
      gate.secure.port = got
      return { port: got, fell_back: port !== 0 && got !== port }
    },
    async open({ address, port, as, is_look = false }) {
      const accept = (socket: Socket) => {
        gate.network.set(socket, { as: as === undefined ? undefined : known(as), is_look })
        server.emit('connection', socket)
      }
      const opening = await openListener({ address, port, accept })
      openings.add(opening)
      return {
        port: opening.port,
        close() {
          openings.delete(opening)
          return opening.close()
        },
      }
    },
    setRoute: (host, route, { drain_ms = limits.drain_ms } = {}) => router.set(known(host), route, drain_ms),
    removeRoute: (host, { drain_ms = limits.drain_ms } = {}) => router.remove(known(host), drain_ms),
    setNames: (host, names) => router.setNames(known(host), names.map(known)),
    route: (host) => router.find(known(host))?.route,
    takeLastRequests: () => router.takeLastRequests(),
    idleSince: (host) => router.idleSince(known(host)),
    cache: caching,
    meter,
    async close({ grace_ms = 0 } = {}) {
      const closed = Promise.all(
        [server, twin, ...secure].map((one) => new Promise<void>((resolve) => (one.listening ? one.close(() => resolve()) : resolve()))),
      )
      for (const opening of openings) void opening.close()
      server.closeIdleConnections()
      http2.retire()
      for (const connection of gate.plain) connection.retire()
      const cut = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      const timer = grace_ms > 0 ? clock.setTimeout(cut, grace_ms) : cut()
      await closed
      timer?.cancel()
      cut()
      router.cut()
      await caching.close()
      sweep.stop()
    },
  }
}

/** The name as the table has it; what is no name at all stays as it is and is never found. */
const known = (host: string): string => hostName(host) ?? host

function createListener(gate: Gate, sockets: Set<Socket>, fast_path: boolean): Server {
  const server = createServer({
    maxHeaderSize: limits.head_bytes,
    // Without Host Node would answer by itself, without a page; we count the Host headers ourselves.
    requireHostHeader: false,
    headersTimeout: gate.head_ms,
    // A body may take hours; that it keeps coming is watched by BodyGuard.
    requestTimeout: 0,
    keepAliveTimeout: limits.client_idle_ms,
    connectionsCheckingInterval: Math.min(1000, gate.head_ms / 2),
    noDelay: true,
    // A peer that vanished without a word is found out, streams and WebSockets included.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    insecureHTTPParser: false,
    shouldUpgradeCallback: wantsWebSocket,
  })
  // Node would silently drop headers over its count, and yet frame by them: take them all, refuse by our own count.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connections
  // Node's own listener reads every connection; with the plain path it gets those that we hand over.
  const readByNode = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const ordinary = (socket: Socket): void => {
    for (const listener of readByNode) listener.call(server, socket)
    socket.once('end', () => watchHalfClosed(gate, socket))
  }
  // A client may close its half after the request and still wants the answer; Node's default would cut it.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // By a listener of the network the name may be another than Host says: the plain path does not ask.
    if (fast_path && !gate.network.has(socket)) servePlain(gate, socket, ordinary)
    else ordinary(socket)
  })
  serveOrdinary(gate, server)
  serveTunnels(gate, server)
  server.on('connect', (_request, socket) => refuse(gate, socket as Socket, 405, 'CONNECT is not taken here.', ''))
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // Opened ahead by a browser, and never used: an answer to nothing would be taken for that of the next request.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0) return void socket.destroy()
    const [status, sentence] = parserRefusals[error.code ?? ''] ?? [400, 'This is not a well-formed HTTP/1.1 request.']
    refuse(gate, socket as Socket, status, sentence, error.rawPacket?.toString('latin1', 0, 4096) ?? '')
  })
  return server
}

/** After FIN a client either still reads, or is gone and only a write would tell: it is gone when nothing moves. */
function watchHalfClosed(gate: Gate, socket: Socket): void {
  let written = socket.bytesWritten
  const timed: Timed = {
    deadline: gate.sweep.now + limits.half_closed_ms,
    expire() {
      if (socket.bytesWritten === written) return void socket.destroy()
      written = socket.bytesWritten
      timed.deadline = gate.sweep.now + limits.half_closed_ms
    },
  }
  gate.sweep.add(timed)
  socket.once('close', () => gate.sweep.delete(timed))
}

const parserRefusals: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, `The headers of a request may have ${limits.head_bytes} bytes in all.`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
}

/** Answers what is no request, and hangs up. `text` is what came, to learn which form of answer is wanted. */
function refuse(gate: Gate, socket: Socket, status: number, sentence: string, text: string): void {
  const before = gate.under_way.get(socket)
  if (before && before.requests.size > 0 && socket.writable) {
    // In the middle of a body: that request is broken. Behind complete ones: they are answered first.
    const broken = [...before.requests].find((request) => !request.isComplete)
    if (broken) return broken.refuse(status, sentence)
    before.answered = () => refuse(gate, socket, status, sentence, text)
    return
  }
  if (!socket.writable) return void socket.destroy()
  const id = gate.newId()
  const accept = /^accept:(.*)$/im.exec(text)?.[1]
  const answer = refusalAnswer(status, sentence, { id, header: (name) => (name === 'accept' ? accept : undefined) })
  const head = `${answerHead(answer, id, gate.dateLine())}Connection: close\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.isBuffer(answer.body) ? answer.body : Buffer.alloc(0)]))
  const timer = gate.clock.setTimeout(() => socket.destroy(), limits.linger_ms)
  socket.once('close', () => timer.cancel())
}
