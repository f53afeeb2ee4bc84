import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { formatResponseHead, parseHeaderLines, type EdgeResponse, type RequestContext } from './response.ts'
import { checkHttpsAndServerName } from './https-redirect.ts'
import { isLoopback } from './upstream/request-headers.ts'
import { waitForTarget, type EdgeContext } from './edge-context.ts'
import { edgeLimits } from './limits.ts'
import { isInternalProbe } from './internal-probe.ts'
import { RequestMetrics } from './request-metrics.ts'
import { buildUpstreamHead } from './node-path/request-handler.ts'
import { validateRequest } from './node-path/request-validation.ts'
import type { EdgeRequest } from './request.ts'
import { pageForFailure, createPageResponse, createErrorResponse, pageForRoute, type StatusPageName } from './status-pages.ts'
import type { ResponseHead } from './upstream/response-head.ts'
import { requestHost } from './network-listener.ts'
import type { OpenRequest, RouteTarget } from './router.ts'
import type { Timeout } from './deadline-timer.ts'
import type { Exchange, UpstreamFailure, ResponseHandler } from './upstream/exchange.ts'

/** Whether a request asks for a WebSocket, the only supported upgrade. A request for another upgrade (h2c) is served without it. */
export const isWebSocketUpgrade = (request: EdgeRequest): boolean =>
  request.method === 'GET' &&
  request.headers.upgrade?.toLowerCase() === 'websocket' &&
  request.headers['transfer-encoding'] === undefined &&
  (request.headers['content-length'] ?? '0') === '0'

/** Serves WebSockets. Once the app has accepted, bytes pass both ways unchanged. */
export function serveWebSockets(edge: EdgeContext, server: Server): void {
  server.on('upgrade', (request, socket, head) => {
    const connection = socket as Socket
    connection.setNoDelay(true)
    connection.setTimeout(0)
    serveTunnel(edge, request, createHttp1Client(connection), head)
  })
}

/** The client's end of a tunnel: a connection, or an HTTP/2 stream. */
export interface TunnelClient {
  readonly stream: Duplex
  /** HTTP/2 frames the body itself and has no chunks. */
  readonly hasChunks: boolean
  /** `start`: the status line and the headers, without those of the connection. `list`: the headers alone. */
  writeHead(status: number, start: string, list: readonly string[], framing: 'upgrade' | 'chunked' | 'length'): void
}

function createHttp1Client(socket: Socket): TunnelClient {
  const connectionLines = {
    upgrade: 'Connection: Upgrade\r\nUpgrade: websocket\r\n',
    chunked: 'Transfer-Encoding: chunked\r\nConnection: close\r\n',
    length: 'Connection: close\r\n',
  }
  return {
    stream: socket,
    hasChunks: true,
    writeHead: (_status, start, _list, framing) => void socket.write(`${start}${connectionLines[framing]}\r\n`, 'latin1'),
  }
}

export const serveTunnel = (edge: EdgeContext, request: EdgeRequest, client: TunnelClient, earlyBytes: Buffer): void =>
  new WebSocketTunnel(edge, request, client, earlyBytes).serve()

class WebSocketTunnel implements RequestContext, ResponseHandler, Timeout {
  readonly wantsRawChunks: boolean
  readonly id: string
  readonly method: string
  readonly target: string
  readonly host: string
  readonly isLoopbackClient: boolean
  deadline = 0
  readonly #edge: EdgeContext
  readonly #request: EdgeRequest
  readonly #client: TunnelClient
  readonly #socket: Duplex
  readonly #earlyBytes: Buffer
  readonly #metrics: RequestMetrics
  readonly #isProbe: boolean
  #exchange: Exchange | undefined
  #target: RouteTarget | undefined
  #isOpen = false
  #hasResponded = false
  #isChunking = false
  #stopWaiting = (): void => {}
  readonly #destroy = (): void => void this.#request.socket.destroy()
  readonly #open: OpenRequest = { slot: -1, abort: this.#destroy }

  constructor(edge: EdgeContext, request: EdgeRequest, client: TunnelClient, earlyBytes: Buffer) {
    const socket = client.stream
    this.id = edge.newRequestId()
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.host = requestHost(edge, request)
    this.isLoopbackClient = isLoopback(request.socket.remoteAddress ?? '')
    this.#edge = edge
    this.#metrics = new RequestMetrics(edge.metrics, edge.requestLog)
    this.#metrics.start()
    this.#request = request
    this.#isProbe = isInternalProbe(edge, request)
    this.#client = client
    this.#socket = socket
    this.wantsRawChunks = client.hasChunks
    this.#earlyBytes = earlyBytes
    edge.deadlines.add(this)
    socket.on('error', () => {})
    socket.on('close', () => this.#onClose())
    socket.on('end', () => this.#onClientEnd())
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  serve(): void {
    // A Node older than `shouldUpgradeCallback` (24.9) reports every upgrade here. Only a WebSocket may get a tunnel.
    const unsupportedUpgrade = { status: 400, message: 'Only upgrades to WebSocket are supported.' }
    const rejection = validateRequest(this.#request) ?? (isWebSocketUpgrade(this.#request) ? undefined : unsupportedUpgrade)
    if (rejection) return this.#send(createErrorResponse(rejection.status, rejection.message, this))
    const redirect = this.#isProbe ? undefined : checkHttpsAndServerName(this.#edge, this.#request.socket, this)
    if (redirect) return this.#send(redirect)
    this.#dispatch()
  }

  #dispatch(): void {
    this.#stopWaiting = waitForTarget(this.#edge, this, (target, hasWaited) => {
      if (hasWaited) this.#metrics.markReady()
      if (target === undefined) return this.#sendPage('unknown_host')
      this.#target = target
      target.addRequest(this.#open, this.#isProbe)
      if (!this.#isProbe) this.#metrics.setTarget(target, target.upstream ? 'bypass' : null)
      if (target.site) return this.#send(createErrorResponse(400, 'A static site does not support WebSockets.', this))
      if (!target.upstream) return this.#sendPage(pageForRoute(target.route))
      this.#exchange = target.upstream.createExchange(this, {
        head: buildUpstreamHead(this.#request, this.id, 'Connection: Upgrade\r\nUpgrade: websocket\r\n', this.#metrics),
        body: null,
        isComplete: true,
        isRepeatable: true,
        expectsNoBody: false,
        isUpgrade: true,
      })
      this.#exchange.start()
    })
  }

  #send(response: EdgeResponse): void {
    if (response.body && !Buffer.isBuffer(response.body)) response.body.close()
    if (this.#hasResponded || this.#socket.destroyed) return
    this.#hasResponded = true
    this.#metrics.recordStatus(response.status)
    const body = Buffer.isBuffer(response.body) ? response.body : Buffer.alloc(0)
    this.#metrics.recordBytes(body.length)
    const sent = response.length < 0 ? response : { ...response, length: body.length }
    const start = formatResponseHead(sent, this.id, this.#edge.dateLine())
    this.#client.writeHead(sent.status, start, parseHeaderLines(start.slice(start.indexOf('\n') + 1)), 'length')
    if (body.length > 0) this.#socket.write(body)
    this.#lingerAndClose()
  }

  #sendPage(name: StatusPageName): void {
    this.#send(createPageResponse(name, this, this.#target?.route))
  }

  /** Lets the client read the last byte and close. If it does not close in time, the edge does. */
  #lingerAndClose(): void {
    this.#socket.end()
    this.#socket.resume()
    this.deadline = this.#edge.deadlines.now + edgeLimits.linger_ms
  }

  expire(): void {
    this.#destroy()
  }

  onRequestSent(replica: number | null): void {
    this.#metrics.markSent(replica)
  }

  onDrain(): void {
    this.#socket.resume()
  }

  onContinue(): void {}

  onInterim(): void {}

  flushHead(): void {}

  onHead(head: ResponseHead): void {
    this.#hasResponded = true
    this.#metrics.recordStatus(head.status)
    const lines = `${head.lines}X-Request-Id: ${this.id}\r\n`
    const start = `HTTP/1.1 ${head.status} ${head.reason}\r\n${lines}`
    const list = parseHeaderLines(lines)
    if (head.status === 101) {
      this.#isOpen = true
      this.#finishMeasurement()
      this.#client.writeHead(101, start, list, 'upgrade')
      if (this.#earlyBytes.length > 0) this.#exchange?.write(this.#earlyBytes)
      this.#socket.on('data', (bytes: Buffer) => {
        if (this.#exchange?.write(bytes) === false) this.#socket.pause()
      })
      return
    }
    // The app declined the upgrade. Its response is the last one on this connection.
    this.#isChunking = this.#client.hasChunks && !head.chunked && head.length < 0 && head.status !== 204 && head.status !== 304
    this.#client.writeHead(head.status, start, list, head.chunked || this.#isChunking ? 'chunked' : 'length')
  }

  onData(bytes: Buffer, start: number, end: number, framing = 0): boolean {
    if (!this.#isOpen) this.#metrics.recordBytes(end - start - framing)
    if (this.#isChunking) this.#socket.write(`${(end - start).toString(16)}\r\n`, 'latin1')
    this.#socket.write(bytes.subarray(start, end))
    if (this.#isChunking) this.#socket.write('\r\n', 'latin1')
    if (this.#socket.writableLength === 0) return true
    // As on the fast path, the callback runs once exactly these bytes are written.
    this.#socket.write(Buffer.alloc(0), () => this.#exchange?.resume())
    return false
  }

  onEnd(): void {
    if (this.#isOpen) {
      this.#socket.end()
      this.deadline = this.#edge.deadlines.now + edgeLimits.tunnel_half_closed_ms
      return
    }
    this.#exchange = undefined
    if (this.#isChunking) this.#socket.write('0\r\n\r\n', 'latin1')
    this.#lingerAndClose()
  }

  #onClientEnd(): void {
    // The client closed its write half. The app may still send data.
    if (this.#isOpen) this.#exchange?.closeWriteHalf()
    this.deadline = this.#edge.deadlines.now + (this.#isOpen ? edgeLimits.tunnel_half_closed_ms : edgeLimits.half_closed_ms)
  }

  onError(failure: UpstreamFailure): void {
    this.#exchange = undefined
    if (this.#isOpen && this.#socket.writableEnded) return
    if (this.#hasResponded) {
      this.#metrics.setFailure(failure)
      return this.#destroy()
    }
    if ((failure === 'refused' || failure === 'rerouted') && this.#edge.router.find(this.host, this.isLoopbackClient) !== this.#target) {
      this.#target?.removeRequest(this.#open, this.#isProbe)
      this.#target = undefined
      this.#metrics.markReady()
      return this.#dispatch()
    }
    this.#metrics.setFailure(failure)
    this.#edge.log.warn('edge.upstream_failed', { request_id: this.id, host: this.host, failure })
    this.#sendPage(pageForFailure(failure, this.#target?.route))
  }

  #onClose(): void {
    this.#edge.deadlines.delete(this)
    this.#stopWaiting()
    this.#exchange?.abort()
    this.#exchange = undefined
    this.#metrics.recordClientClosed()
    this.#finishMeasurement()
    this.#target?.removeRequest(this.#open, this.#isProbe)
    this.#target = undefined
  }

  /** A WebSocket is logged when it opens, because it may stay open for days. */
  #finishMeasurement(): void {
    const { socket, httpVersion } = this.#request
    this.#metrics.finish(this, socket, socket.protocol ?? `HTTP/${httpVersion}`)
  }
}
