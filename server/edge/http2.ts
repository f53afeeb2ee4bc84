import { randomBytes } from 'node:crypto'
import { constants, createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { ResponseWriter, EdgeRequest, Transport } from './request.ts'
import type { EdgeContext } from './edge-context.ts'
import { edgeLimits } from './limits.ts'
import { serveRequest } from './node-path/request-handler.ts'
import type { Timeout } from './deadline-timer.ts'
import { serveTunnel, type TunnelClient } from './tunnel.ts'

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants

/**
 * Accepts HTTP/2 from clients. Each stream becomes a request in the shape of HTTP/1.1 and is handled like one. Connections to apps always use
 * HTTP/1.1.
 */
export interface Http2Acceptor {
  accept(socket: TLSSocket): void
  /** Accepts no new streams. Each connection closes after its last stream. */
  close(): void
}

export function createHttp2Acceptor(edge: EdgeContext): Http2Acceptor {
  const sessions = new Set<ServerHttp2Session>()
  const server = createAcceptingServer(true)
  const developmentServer = createAcceptingServer(false)
  const isDevelopment = (socket: TLSSocket): boolean => typeof socket.servername === 'string' && edge.router.hasDevelopmentRoute(socket.servername)

  return {
    accept(socket) {
      // Unlike in HTTP/1.1, a client that ends its side has disconnected. A half-open connection would stay forever.
      socket.allowHalfOpen = false
      const chosen = isDevelopment(socket) ? developmentServer : server
      chosen.emit('connection', socket)
    },
    close() {
      for (const session of sessions) session.close()
    },
  }

  /**
   * `offersWebSockets`: on a stream (RFC 8441). Chromium ends every HTTP/2 connection when an address of this machine changes, which each container
   * that starts or stops causes, but keeps HTTP/1.1 connections. A development server would lose edits, so its sockets get separate connections.
   */
  function createAcceptingServer(offersWebSockets: boolean): Http2Server {
    const accepting = createServer({
      settings: {
        maxConcurrentStreams: edgeLimits.http2_streams,
        maxHeaderListSize: edgeLimits.head_bytes,
        initialWindowSize: edgeLimits.stream_window_bytes,
        enableConnectProtocol: offersWebSockets,
      },
      // Higher than `header_count`, so that the edge's own check rejects the request with a response.
      maxHeaderListPairs: edgeLimits.header_count + 28,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      streamResetBurst: edgeLimits.reset_burst,
      streamResetRate: edgeLimits.reset_rate,
      // An app may repeat a header that must have one value. As in HTTP/1.1, the recipient decides what to do.
      strictSingleValueFields: false,
    })
    accepting.on('session', (session) => {
      sessions.add(session)
      session.setLocalWindowSize(edgeLimits.connection_window_bytes)
      session.on('error', () => {})
      let streams = 0
      const idle: Timeout = { deadline: edge.deadlines.now + edgeLimits.client_idle_ms, expire: () => session.close() }
      edge.deadlines.add(idle)
      session.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: number, raw: string[]) => {
        streams++
        idle.deadline = 0
        stream.on('close', () => {
          streams--
          if (streams === 0) idle.deadline = edge.deadlines.now + edgeLimits.client_idle_ms
        })
        serveStream(edge, session, stream, raw)
        // The next request opens a connection that does not offer WebSockets.
        if (offersWebSockets && isDevelopment(session.socket as TLSSocket)) session.close()
      })
      session.on('close', () => {
        sessions.delete(session)
        edge.deadlines.delete(idle)
      })
    })
    accepting.on('sessionError', () => {})
    return accepting
  }
}

function serveStream(edge: EdgeContext, session: ServerHttp2Session, stream: ServerHttp2Stream, raw: readonly string[]): void {
  // A stream that the client resets is handled by its `close` event.
  stream.on('error', () => {})
  const request = new Http2Request(session, stream, raw)
  if (request.header_bytes > edgeLimits.head_bytes)
    return stream.respond({ ':status': 431, 'x-request-id': edge.newRequestId(), 'content-length': 0 }, { endStream: true })
  if (request.isWebSocket) return serveTunnel(edge, request, createHttp2Client(stream), Buffer.alloc(0))
  const expect = request.headers.expect?.toLowerCase()
  serveRequest(edge, request, new Http2ResponseWriter(stream), expect === undefined ? 'nothing' : expect === '100-continue' ? 'continue' : 'more')
}

/** A stream in the shape of an HTTP/1.1 request: Host for `:authority`, one Cookie header, chunked if no length is given. */
class Http2Request implements EdgeRequest {
  readonly httpVersion = '1.1'
  readonly method: string
  url: string
  readonly headers: IncomingHttpHeaders = {}
  readonly rawHeaders: string[] = []
  readonly rawTrailers: string[] = []
  readonly socket: Transport
  /** A request for a WebSocket (RFC 8441), in the shape of its HTTP/1.1 counterpart. */
  readonly isWebSocket: boolean
  /** The size of all headers together. */
  header_bytes = 0
  readonly #stream: ServerHttp2Stream

  constructor(session: ServerHttp2Session, stream: ServerHttp2Stream, raw: readonly string[]) {
    this.#stream = stream
    const pseudo: Record<string, string> = {}
    const cookies: string[] = []
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i] ?? ''
      const value = raw[i + 1] ?? ''
      this.header_bytes += name.length + value.length + 4
      if (name.startsWith(':')) pseudo[name] = value
      else if (name === 'cookie') cookies.push(value)
      // `:authority` replaces Host. A Host header that differs from `:authority` is kept, so that validation rejects the request.
      else if (name !== 'host' || pseudo[':authority'] === undefined || value.toLowerCase() !== pseudo[':authority'].toLowerCase())
        this.#addHeader(name, value)
    }
    this.isWebSocket = pseudo[':method'] === 'CONNECT' && pseudo[':protocol'] === 'websocket'
    this.method = this.isWebSocket ? 'GET' : (pseudo[':method'] ?? '')
    this.url = pseudo[':path'] ?? ''
    if (pseudo[':authority'] !== undefined) this.#addHeader('host', pseudo[':authority'])
    if (cookies.length > 0) this.#addHeader('cookie', cookies.join('; '))
    if (this.isWebSocket) {
      // HTTP/2 has no key, because a stream cannot be taken for something else; apps expect one.
      this.#addHeader('upgrade', 'websocket')
      this.#addHeader('connection', 'Upgrade')
      this.#addHeader('sec-websocket-key', randomBytes(16).toString('base64'))
    } else if (!stream.endAfterHeaders && this.headers['content-length'] === undefined) this.#addHeader('transfer-encoding', 'chunked')
    this.socket = {
      remoteAddress: session.socket.remoteAddress,
      encrypted: true,
      protocol: 'HTTP/2',
      servername: (session.socket as TLSSocket).servername ?? null,
      // The stream is reset, so that a partial response does not look complete.
      destroy: () => stream.close(stream.writableFinished ? NGHTTP2_NO_ERROR : NGHTTP2_INTERNAL_ERROR),
    }
    stream.on('trailers', (_headers: unknown, _flags: number, lines: string[] | undefined) => this.rawTrailers.push(...(lines ?? [])))
  }

  #addHeader(name: string, value: string): void {
    this.rawHeaders.push(name, value)
    const existing = this.headers[name]
    this.headers[name] = existing === undefined ? value : `${String(existing)}, ${value}`
  }

  get complete(): boolean {
    return this.#stream.endAfterHeaders || (this.#stream.readableEnded && !this.#stream.aborted)
  }

  on(event: 'data', listener: (header_bytes: Buffer) => void): this
  on(event: 'end' | 'error', listener: () => void): this
  on(event: 'data' | 'end' | 'error', listener: (header_bytes: Buffer) => void): this {
    // A reset stream emits `end` too, but its body is incomplete.
    if (event === 'end') this.#stream.on('end', () => (this.#stream.aborted ? undefined : listener(Buffer.alloc(0))))
    else this.#stream.on(event, listener)
    return this
  }

  once(event: 'close', listener: () => void): this {
    this.#stream.once(event, listener)
    return this
  }

  removeAllListeners(event: 'data'): this {
    this.#stream.removeAllListeners(event)
    return this
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }
}

const connectionSpecificHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'sec-websocket-accept'])

/** The client's end of a WebSocket on a stream: 200 accepts it. */
const createHttp2Client = (stream: ServerHttp2Stream): TunnelClient => ({
  stream,
  hasChunks: false,
  writeHead(status, _start, list) {
    if (stream.destroyed || stream.closed) return
    const raw = [':status', String(status === 101 ? 200 : status)]
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i]?.toLowerCase() ?? ''
      if (!connectionSpecificHeaders.has(name)) raw.push(name, list[i + 1] ?? '')
    }
    stream.respond(raw)
  },
})

/** The response on a stream, written with the interface of an HTTP/1.1 response. */
class Http2ResponseWriter extends Writable implements ResponseWriter {
  readonly #stream: ServerHttp2Stream
  #trailers: Record<string, string> = {}

  constructor(stream: ServerHttp2Stream) {
    super({ emitClose: true })
    this.#stream = stream
    stream.on('close', () => this.destroy())
  }

  get headersSent(): boolean {
    return this.#stream.headersSent
  }

  writeHead(status: number, reasonOrList: string | string[], more: string[] = []): this {
    const list = typeof reasonOrList === 'string' ? more : reasonOrList
    const raw = [':status', String(status)]
    let hasLength = false
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i]?.toLowerCase() ?? ''
      if (connectionSpecificHeaders.has(name)) continue
      hasLength ||= name === 'content-length'
      raw.push(name, list[i + 1] ?? '')
    }
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return this
    // Only a response without a length may have trailers.
    if (!hasLength) stream.once('wantTrailers', () => stream.sendTrailers(this.#trailers))
    stream.respond(raw, { waitForTrailers: !hasLength })
    return this
  }

  /** Node sends the head at the end of the tick. */
  flushHeaders(): void {}

  writeContinue(): void {
    if (!this.#stream.destroyed && !this.#stream.closed) this.#stream.additionalHeaders({ ':status': 100 })
  }

  writeProcessing(): void {
    if (!this.#stream.destroyed && !this.#stream.closed) this.#stream.additionalHeaders({ ':status': 102 })
  }

  writeEarlyHints(hints: Record<string, string[]>): void {
    if (!this.#stream.destroyed && !this.#stream.closed) this.#stream.additionalHeaders({ ':status': 103, ...hints })
  }

  addTrailers(pairs: [string, string][]): void {
    this.#trailers = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#stream.destroyed || this.#stream.writableEnded) done()
    else this.#stream.write(bytes, done)
  }

  override _final(done: () => void): void {
    this.#stream.end(done)
  }
}
