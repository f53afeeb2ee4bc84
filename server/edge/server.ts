import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { formatResponseHead, createDateLine } from './response.ts'
import { createEdgeCache, type CacheSharing, type ManagedEdgeCache } from './cache/edge-cache.ts'
import { createChallengeTable } from './acme-challenges.ts'
import type { CacheOptions, Edge, StatusPage, Route } from './edge.ts'
import type { EdgeContext } from './edge-context.ts'
import { createHttp2Acceptor } from './http2.ts'
import { edgeLimits } from './limits.ts'
import { createEdgeListeners, type ConnectionOrigin, type EdgeListeners } from './listeners.ts'
import { createMetricsCollector } from './metrics.ts'
import { serveNodePath } from './node-path/request-handler.ts'
import { createErrorResponse } from './status-pages.ts'
import { serveFastPath } from './fast-path/connection.ts'
import { createRequestLog } from './request-log.ts'
import { createRequestIdGenerator } from './request-id.ts'
import { normalizeHost } from './host-header.ts'
import { createRouter } from './router.ts'
import { createDeadlineTimer, type Timeout } from './deadline-timer.ts'
import { createTlsAcceptor, type GetTlsCredentials } from './tls.ts'
import { serveWebSockets, isWebSocketUpgrade } from './tunnel.ts'

export type { Edge, Route } from './edge.ts'

export interface EdgeOptions {
  log: Log
  clock?: Clock
  /** Enables the fast path. Without it every request uses Node's parser; only speed differs. Default true. */
  fast_path?: boolean
  connect_timeout_ms?: number
  /** How long to wait for the head of an app's response; then 504. */
  upstream_timeout_ms?: number
  /**
   * Called for a host name without a route. Returns its status page, or undefined for 404. Pages are created on demand because most names of a large
   * instance receive no requests.
   */
  resolveUnknownHost?: (host: string) => StatusPage | undefined
  /** How long a request waits for a starting app. */
  start_timeout_ms?: number
  /** Called once per route when a sleeping app receives a request. */
  wake?: (route: Route) => void
  /** The platform's own requests send it in `X-Homeport-Look` and do not count as visits. The header is not forwarded to apps. */
  probe_secret?: string
  /** A cookie that browsers on the network may send to apps as well as to the dashboard. It is not forwarded to apps. */
  private_cookie?: string
  header_timeout_ms?: number
  /** A request body must make progress within each window of this length. */
  body_window_ms?: number
  /** Whether requests are counted and timed, checked per request. Default: no. */
  isMetricsEnabled?: () => boolean
  /** Whether requests are logged, checked per request. Default: no. */
  isRequestLogEnabled?: () => boolean
  /** The share of the limits per second of the request log, if several workers serve the same projects. Default: 1. */
  request_log_share?: number
  /** Without cache options nothing is cached. */
  cache?: CacheOptions
  cacheSharing?: CacheSharing
  /** Keys the cookies of sticky sessions. Default: a random one. */
  sticky_secret?: Uint8Array
  /** The TLS credentials for a routed host name or for an address of this machine. Without it there is no HTTPS. */
  getTlsCredentials?: GetTlsCredentials
  /** `SLUG.localhost` also answers at `SLUG.` and this domain. */
  apps_domain?: string | null
  /** Whether plain HTTP is redirected to HTTPS. */
  isHttpsRedirectEnabled?: () => boolean
}

/** The edge without listeners: it serves the connections that it is given. */
export interface EdgeServer extends Omit<Edge, keyof EdgeListeners | 'cache'> {
  /** Serves a connection of a listener. */
  accept(socket: Socket, origin: ConnectionOrigin): void
  /** Cuts the connections of a listener. */
  cutConnections(listener: number): void
  countConnections(): number
  setHttpsPort(port: number): void
  /** Requests for a host name that `resolveUnknownHost` held are looked up again. */
  notifyHost(host: string): void
  cache: ManagedEdgeCache
}

/** The edge in this process. */
export function createEdge(options: EdgeOptions): Edge {
  const { accept, cutConnections, countConnections: _, setHttpsPort, notifyHost: __, ...server } = createEdgeServer(options)
  const { close, ...listeners } = createEdgeListeners({
    log: options.log,
    isSecure: options.getTlsCredentials !== undefined,
    accept,
    onSecurePort: setHttpsPort,
    onClose: cutConnections,
  })
  return {
    ...server,
    ...listeners,
    async close(closeOptions) {
      const closed = close()
      await server.close(closeOptions)
      await closed
    },
  }
}

export function createEdgeServer(options: EdgeOptions): EdgeServer {
  const clock = options.clock ?? systemClock
  const deadlines = createDeadlineTimer(clock, edgeLimits.deadline_tick_ms)
  const metrics = createMetricsCollector({ clock, isEnabled: options.isMetricsEnabled ?? (() => false) })
  const requestLog = createRequestLog({ clock, isEnabled: options.isRequestLogEnabled ?? (() => false), share: options.request_log_share ?? 1 })
  const dateLine = createDateLine(clock)
  const cache = createEdgeCache({ clock, log: options.log, dateLine, cache: options.cache, sharing: options.cacheSharing })
  const router = createRouter(
    clock,
    deadlines,
    { metrics, requests: requestLog },
    {
      connect_timeout_ms: options.connect_timeout_ms ?? edgeLimits.connect_timeout_ms,
      response_timeout_ms: options.upstream_timeout_ms ?? edgeLimits.response_timeout_ms,
      resolveUnknownHost: options.resolveUnknownHost,
      cacheForProject: (projectId) => cache.forProject(projectId),
      start_timeout_ms: options.start_timeout_ms ?? edgeLimits.start_timeout_ms,
      wake: options.wake,
      sticky_secret: options.sticky_secret ?? randomBytes(32),
      apps_domain: options.apps_domain ?? null,
    },
  )
  const edge: EdgeContext = {
    router,
    deadlines,
    log: options.log,
    metrics,
    requestLog,
    newRequestId: createRequestIdGenerator(clock),
    clock,
    dateLine,
    start_timeout_ms: options.start_timeout_ms ?? edgeLimits.start_timeout_ms,
    probe_secret: options.probe_secret,
    networkConnections: new WeakMap(),
    private_cookie: options.private_cookie,
    https: { port: 0, isRedirectEnabled: options.isHttpsRedirectEnabled ?? (() => false), plaintextConnections: new WeakSet() },
    challenges: createChallengeTable(),
    isClosing: false,
    fastPathConnections: new Set(),
    requestsByConnection: new WeakMap(),
    body_window_ms: options.body_window_ms ?? edgeLimits.body_window_ms,
    header_timeout_ms: options.header_timeout_ms ?? edgeLimits.header_timeout_ms,
  }
  const sockets = new Set<Socket>()
  let onLastSocketClosed: (() => void) | undefined
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) onLastSocketClosed?.()
    })
  }
  const server = createHttp1Server(edge, track, options.fast_path ?? true)
  const http2 = createHttp2Acceptor(edge)
  const http1 = (socket: Socket): void => void server.emit('connection', socket)
  const acceptTls = options.getTlsCredentials && createTlsAcceptor(edge, options.getTlsCredentials, { http1, http2: http2.accept })
  /** Connections by listener, for those that may be closed before the edge. */
  const networkSockets = new Map<number, Set<Socket>>()
  let connectionCount = 0

  return {
    accept(socket, { listener, is_secure, network }) {
      if (connectionCount >= edgeLimits.connections) return void socket.destroy()
      connectionCount++
      socket.on('close', () => connectionCount--)
      if (network) {
        edge.networkConnections.set(socket, { as: network.as === undefined ? undefined : normalizeHost(network.as), is_probe: network.is_probe })
        const others = networkSockets.get(listener) ?? new Set()
        networkSockets.set(listener, others.add(socket))
        socket.on('close', () => others.delete(socket))
      }
      if (!is_secure) return void server.emit('connection', socket)
      track(socket)
      acceptTls?.(socket)
    },
    cutConnections(listener) {
      for (const socket of networkSockets.get(listener) ?? []) socket.destroy()
      networkSockets.delete(listener)
    },
    countConnections: () => connectionCount,
    setHttpsPort(port) {
      edge.https.port = port
    },
    notifyHost: (host) => router.notify(host),
    setRoute: (host, route, { drain_ms = edgeLimits.drain_ms } = {}) => router.set(normalizeHost(host), route, drain_ms),
    removeRoute: (host, { drain_ms = edgeLimits.drain_ms } = {}) => router.remove(normalizeHost(host), drain_ms),
    setAliases: (host, names) => router.setAliases(normalizeHost(host), names.map(normalizeHost)),
    getRoute: (host) => router.find(normalizeHost(host), false)?.route,
    setDevelopmentRoute: (host, route) => router.setDevelopmentRoute(normalizeHost(host), route),
    removeDevelopmentRoute: (host) => router.setDevelopmentRoute(normalizeHost(host), undefined),
    setChallenges: async (host, responses) => edge.challenges.set(normalizeHost(host), responses),
    takeLastRequests: () => router.takeLastRequests(),
    listHosts: () => router.listHosts(),
    idleSince: (host) => router.idleSince(normalizeHost(host)),
    listReplicaLoad: (host) => router.listReplicaLoad(normalizeHost(host)),
    cache,
    metrics,
    requests: requestLog,
    async close({ grace_ms = 0 } = {}) {
      edge.isClosing = true
      server.close()
      server.closeIdleConnections()
      http2.close()
      for (const connection of edge.fastPathConnections) connection.close()
      if (grace_ms > 0 && sockets.size > 0) {
        const drained = Promise.withResolvers<void>()
        onLastSocketClosed = drained.resolve
        const timer = clock.setTimeout(drained.resolve, grace_ms)
        await drained.promise
        timer.cancel()
      }
      for (const socket of sockets) socket.destroy()
      router.destroy()
      await cache.close()
      deadlines.stop()
    },
  }
}

function createHttp1Server(edge: EdgeContext, track: (socket: Socket) => void, fast_path: boolean): Server {
  const server = createServer({
    maxHeaderSize: edgeLimits.head_bytes,
    // Without a Host header, Node would answer without a page. The edge validates the number of Host headers itself.
    requireHostHeader: false,
    headersTimeout: edge.header_timeout_ms,
    // A body may take hours. `BodyTimeout` checks that it keeps arriving.
    requestTimeout: 0,
    keepAliveTimeout: edgeLimits.client_idle_ms,
    connectionsCheckingInterval: Math.min(1000, edge.header_timeout_ms / 2),
    noDelay: true,
    // Detects peers that vanish without closing, for streams and WebSockets too.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    insecureHTTPParser: false,
    shouldUpgradeCallback: isWebSocketUpgrade,
  })
  // Above its limit, Node would drop headers silently but still use them for framing. The edge accepts all and applies its own limit.
  server.maxHeadersCount = 0
  // Node's own listener reads every connection. With the fast path enabled, it reads only the connections that are handed over.
  const nodeListeners = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  const handOverToNode = (socket: Socket): void => {
    for (const listener of nodeListeners) listener.call(server, socket)
    socket.once('end', () => watchHalfClosed(edge, socket))
  }
  // A client may close its write half after the request and still expect the response. Node's default would cut the connection.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    track(socket)
    // On a network listener the host may differ from the Host header, which the fast path does not check.
    if (fast_path && !edge.networkConnections.has(socket)) serveFastPath(edge, socket, handOverToNode)
    else handOverToNode(socket)
  })
  serveNodePath(edge, server)
  serveWebSockets(edge, server)
  // The server never listens itself: Node begins to track its connections, and to check for slow heads, with this event.
  server.emit('listening')
  server.on('connect', (_request, socket) => rejectConnection(edge, socket as Socket, 405, 'CONNECT is not supported.', ''))
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // A browser opened this connection in advance and never used it. A response would be taken for the answer to its next request.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0) return void socket.destroy()
    const [status, message] = parserErrors[error.code ?? ''] ?? [400, 'This is not a well-formed HTTP/1.1 request.']
    rejectConnection(edge, socket as Socket, status, message, error.rawPacket?.toString('latin1', 0, 4096) ?? '')
  })
  return server
}

/** After FIN, a client either still reads or is gone, which only a write would reveal. It is considered gone when no bytes move. */
function watchHalfClosed(edge: EdgeContext, socket: Socket): void {
  let written = socket.bytesWritten
  const timeout: Timeout = {
    deadline: edge.deadlines.now + edgeLimits.half_closed_ms,
    expire() {
      if (socket.bytesWritten === written) return void socket.destroy()
      written = socket.bytesWritten
      timeout.deadline = edge.deadlines.now + edgeLimits.half_closed_ms
    },
  }
  edge.deadlines.add(timeout)
  socket.once('close', () => edge.deadlines.delete(timeout))
}

const parserErrors: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, `The request headers exceed ${edgeLimits.head_bytes} bytes.`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
}

/** Answers a malformed request and closes the connection. `text` is the received input, used to choose the response format. */
function rejectConnection(edge: EdgeContext, socket: Socket, status: number, message: string, text: string): void {
  const connectionRequests = edge.requestsByConnection.get(socket)
  if (connectionRequests && connectionRequests.requests.size > 0 && socket.writable) {
    // In the middle of a body, that request is malformed. After complete requests, those are answered first.
    const incomplete = [...connectionRequests.requests].find((request) => !request.isComplete)
    if (incomplete) return incomplete.refuse(status, message)
    connectionRequests.onAllAnswered = () => rejectConnection(edge, socket, status, message, text)
    return
  }
  if (!socket.writable) return void socket.destroy()
  const id = edge.newRequestId()
  const accept = /^accept:(.*)$/im.exec(text)?.[1]
  const response = createErrorResponse(status, message, { id, header: (name) => (name === 'accept' ? accept : undefined) })
  const head = `${formatResponseHead(response, id, edge.dateLine())}Connection: close\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.isBuffer(response.body) ? response.body : Buffer.alloc(0)]))
  const timer = edge.clock.setTimeout(() => socket.destroy(), edgeLimits.linger_ms)
  socket.once('close', () => timer.cancel())
}
