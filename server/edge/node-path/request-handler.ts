import type { Server } from 'node:http'
import { groupHeaderLines, parseHeaderLines, type EdgeResponse, type RequestContext } from '../response.ts'
import type { ResponseWriter, EdgeRequest, Transport } from '../request.ts'
import { checkHttpsAndServerName, stripHsts } from '../https-redirect.ts'
import type { HostCache } from '../cache/host-cache.ts'
import type { CacheRequestContext, PendingResponse } from '../cache/reader.ts'
import { forwardedHeaderLines, isEncrypted, isLoopback, isForwardable } from '../upstream/request-headers.ts'
import { BodyTimeout, waitForTarget, type EdgeContext } from '../edge-context.ts'
import { limits } from '../limits.ts'
import { isInternalProbe } from '../internal-probe.ts'
import { RequestMetrics, type CacheOutcome } from '../metrics.ts'
import { pageForFailure, createPageResponse, createErrorResponse, pageForRoute, type StatusPageName } from '../status-pages.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { requestHost } from '../network-listener.ts'
import type { RouteTarget } from '../router.ts'
import { sendFileSlice } from '../static/send-file.ts'
import { validateRequest } from './request-validation.ts'
import type { Exchange, UpstreamFailure, UpstreamRequest } from '../upstream/exchange.ts'

/** The node path handles every request that the fast path does not: Node's HTTP parser reads it, and it is validated here. */
export function serveNodePath(edge: EdgeContext, server: Server): void {
  server.on('request', (request, writer) => serveRequest(edge, request, writer, 'nothing'))
  server.on('checkContinue', (request, writer) => serveRequest(edge, request, writer, 'continue'))
  server.on('checkExpectation', (request, writer) => serveRequest(edge, request, writer, 'more'))
}

/** Handles one request. `expect` is the meaning of its `Expect` header. */
export function serveRequest(edge: EdgeContext, request: EdgeRequest, writer: ResponseWriter, expect: 'nothing' | 'continue' | 'more'): void {
  const handler = new NodePathRequest(edge, request, writer, expect === 'continue')
  if (expect === 'more') handler.send(createErrorResponse(417, 'The only supported expectation is 100-continue.', handler))
  else handler.serve()
}

/** The head of a request as sent to the app. `lines` are the headers for its body or upgrade. */
export function buildUpstreamHead(request: EdgeRequest, id: string, lines: string): string {
  const raw = request.rawHeaders
  const connectionNames = new Set(
    (request.headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  // `Connection` cannot declare framing or Host as hop-by-hop headers.
  for (const name of ['host', 'content-length']) connectionNames.delete(name)
  const isSafeMethod = request.method === 'GET' || request.method === 'HEAD'
  let head = `${request.method} ${request.url} HTTP/1.1\r\n`
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase() ?? ''
    if (isForwardable(name, isSafeMethod) && !connectionNames.has(name)) head += `${raw[i]}: ${raw[i + 1]}\r\n`
  }
  return `${head}${lines}${forwardedHeaderLines(request.socket, request.headers.host ?? '')}${id}\r\n\r\n`
}

const rejectedConnections = new WeakSet<Transport>()
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** One request on the node path. */
class NodePathRequest implements RequestContext, CacheRequestContext {
  readonly wantsRawChunks = false
  readonly id: string
  readonly method: string
  readonly target: string
  readonly host: string
  readonly isLoopbackClient: boolean
  readonly #edge: EdgeContext
  readonly #request: EdgeRequest
  readonly #writer: ResponseWriter
  readonly #isChunked: boolean
  readonly #hasBody: boolean
  /** Waiting for the app's response to `Expect: 100-continue`. */
  #awaitsContinue: boolean
  #exchange: Exchange | PendingResponse | undefined
  #target: RouteTarget | undefined
  #bodyTimeout: BodyTimeout | undefined
  #isPiping = false
  readonly #isProbe: boolean
  readonly #metrics: RequestMetrics
  #stopWaiting = (): void => {}
  readonly #destroy = (): void => void this.#request.socket.destroy()

  constructor(edge: EdgeContext, request: EdgeRequest, writer: ResponseWriter, awaitsContinue: boolean) {
    this.id = edge.newRequestId()
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.host = requestHost(edge, request)
    this.isLoopbackClient = isLoopback(request.socket.remoteAddress ?? '')
    this.#edge = edge
    this.#metrics = new RequestMetrics(edge.metrics)
    this.#metrics.start()
    this.#request = request
    this.#writer = writer
    this.#awaitsContinue = awaitsContinue
    this.#isProbe = isInternalProbe(edge, request)
    this.#isChunked = request.headers['transfer-encoding'] !== undefined
    this.#hasBody = this.#isChunked || (request.headers['content-length'] ?? '0') !== '0'
    request.on('error', () => {})
    writer.on('error', () => {})
    writer.on('close', () => this.#onClose())
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  serve(): void {
    // Bytes after a rejected request may be the rest of it, crafted to look like a request.
    const socket = this.#request.socket
    if (rejectedConnections.has(socket)) return
    const connectionRequests = this.#edge.requestsByConnection.get(socket) ?? { requests: new Set(), onAllAnswered: undefined }
    this.#edge.requestsByConnection.set(socket, connectionRequests)
    connectionRequests.requests.add(this)
    this.#writer.on('close', () => {
      connectionRequests.requests.delete(this)
      if (connectionRequests.requests.size === 0) connectionRequests.onAllAnswered?.()
    })
    // Node reads pipelined requests before it has answered the previous ones, and each causes a concurrent request to the app.
    if (connectionRequests.requests.size > limits.pipelined_requests) return this.#destroy()
    const rejection = validateRequest(this.#request)
    if (rejection) {
      rejectedConnections.add(socket)
      return this.send(createErrorResponse(rejection.status, rejection.message, this), true)
    }
    const redirect = this.#isProbe ? undefined : checkHttpsAndServerName(this.#edge, socket, this)
    if (redirect) this.#sendRedirect(redirect)
    else this.#dispatch()
  }

  #sendRedirect(response: EdgeResponse): void {
    this.#target = this.#edge.router.find(this.host)
    this.#target?.addRequest(this.#destroy)
    if (this.#target) this.#metrics.setProject(this.#target.metrics, null)
    this.send(response)
  }

  #dispatch(): void {
    this.#stopWaiting = waitForTarget(this.#edge, this.host, (target) => {
      if (target === undefined) return this.#sendPage('unknown_host')
      this.#target = target
      target.addRequest(this.#destroy, this.#isProbe)
      if (!this.#isProbe) this.#metrics.setProject(target.metrics, target.site ? 'hit' : target.upstream ? 'bypass' : null)
      if (target.site) this.#sendWhenReady(target.site.respond(this))
      else if (target.upstream) this.#forward(target.upstream, target.cacheFor?.(isEncrypted(this.#request.socket), this.#request.headers.host ?? ''))
      else this.#sendPage(pageForRoute(target.route))
    })
  }

  #sendWhenReady(response: EdgeResponse | Promise<EdgeResponse>): void {
    if (response instanceof Promise) void response.then((ready) => this.send(ready))
    else this.send(response)
  }

  #forward(upstream: NonNullable<RouteTarget['upstream']>, cache: HostCache | undefined): void {
    const upstreamExchange = cache ? cache.createReader(this, upstream) : upstream.createExchange(this, this.buildUpstreamRequest())
    this.#exchange = upstreamExchange
    upstreamExchange.start()
  }

  buildUpstreamRequest(): UpstreamRequest {
    const lines = (this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '') + (this.#awaitsContinue ? 'Expect: 100-continue\r\n' : '')
    return {
      head: buildUpstreamHead(this.#request, this.id, lines),
      body: null,
      isComplete: !this.#hasBody,
      isRepeatable: !this.#hasBody && repeatableMethods.has(this.method),
      expectsNoBody: this.method === 'HEAD',
      isUpgrade: false,
    }
  }

  hasBody(): boolean {
    return this.#hasBody
  }

  fields(name: string): string | undefined {
    const raw = this.#request.rawHeaders
    let value: string | undefined
    for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === name) value = value === undefined ? raw[i + 1] : `${value}, ${raw[i + 1]}`
    return value
  }

  setCacheOutcome(outcome: CacheOutcome): void {
    this.#metrics.setCacheOutcome(outcome)
  }

  /** Sends a response of the edge or from the cache. */
  send(response: EdgeResponse, close = false): void {
    const writer = this.#writer
    if (writer.headersSent || writer.destroyed) {
      if (response.body && !Buffer.isBuffer(response.body)) response.body.close()
      return
    }
    const list = parseHeaderLines(stripHsts(this.#request.socket, this.host, response.lines))
    list.push('X-Request-Id', this.id)
    if (response.length >= 0) list.push('Content-Length', String(response.length))
    if (close || this.#awaitsContinue) list.push('Connection', 'close')
    writer.writeHead(response.status, list)
    this.#metrics.recordStatus(response.status)
    this.#drainRequest()
    if (response.body === null || this.method === 'HEAD') {
      if (response.body && !Buffer.isBuffer(response.body)) response.body.close()
      writer.end()
    } else if (Buffer.isBuffer(response.body)) {
      this.#metrics.recordBytes(response.body.length)
      writer.end(response.body)
    } else
      void sendFileSlice(response.body, writer, (bytes) => this.#metrics.recordBytes(bytes)).then((isComplete) =>
        isComplete ? writer.end() : this.#destroy(),
      )
  }

  #sendPage(name: StatusPageName): void {
    this.send(createPageResponse(name, this, this.#target?.route))
  }

  /** Reads and drops the rest of a request for a moment after it was answered, so that a reset does not discard the response. */
  #drainRequest(): void {
    const request = this.#request
    this.#bodyTimeout?.stop()
    if (request.complete || this.#awaitsContinue) return
    request.removeAllListeners('data')
    request.resume()
    const timeout = { deadline: this.#edge.deadlines.now + limits.linger_ms, expire: () => void (request.complete || this.#destroy()) }
    this.#edge.deadlines.add(timeout)
    request.once('close', () => this.#edge.deadlines.delete(timeout))
  }

  onRequestSent(): void {
    if (!this.#hasBody || !this.#exchange) return
    if (this.#awaitsContinue) {
      const exchange = this.#exchange
      const timeout = {
        deadline: this.#edge.deadlines.now + limits.continue_timeout_ms,
        expire: () => void (this.#exchange === exchange && this.onContinue()),
      }
      this.#edge.deadlines.add(timeout)
      this.#writer.once('close', () => this.#edge.deadlines.delete(timeout))
      return
    }
    this.#pipeBody(this.#exchange)
  }

  onContinue(): void {
    if (!this.#awaitsContinue || !this.#exchange || this.#writer.headersSent) return
    this.#awaitsContinue = false
    this.#writer.writeContinue()
    this.#pipeBody(this.#exchange)
  }

  onInterim(head: ResponseHead): void {
    const writer = this.#writer
    if (this.#request.httpVersion !== '1.1' || writer.headersSent || writer.destroyed) return
    if (head.status === 102) return writer.writeProcessing()
    try {
      writer.writeEarlyHints(groupHeaderLines(stripHsts(this.#request.socket, this.host, head.lines)))
    } catch {
      // Node rejects a Link value that it cannot parse. The final response contains it as well.
    }
  }

  #pipeBody(exchange: Exchange | PendingResponse): void {
    const request = this.#request
    const bodyTimeout = new BodyTimeout(this.#edge, () => this.#onBodyTimeout())
    this.#bodyTimeout = bodyTimeout
    this.#isPiping = true
    request.on('data', (bytes: Buffer) => {
      bodyTimeout.bytes += bytes.length
      const canContinue = this.#isChunked
        ? [exchange.write(`${bytes.length.toString(16)}\r\n`), exchange.write(bytes), exchange.write('\r\n')].every(Boolean)
        : exchange.write(bytes)
      if (!canContinue) {
        bodyTimeout.isSuspended = true
        request.pause()
      }
    })
    request.on('end', () => {
      bodyTimeout.stop()
      if (this.#isChunked) exchange.write(`0\r\n${this.#forwardableTrailers()}\r\n`)
      exchange.finish()
    })
  }

  #forwardableTrailers(): string {
    const raw = this.#request.rawTrailers
    let lines = ''
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]?.toLowerCase() ?? ''
      if (isForwardable(name, true) && !/^(?:content-|host$|authorization$|cookie$)/.test(name)) lines += `${raw[i]}: ${raw[i + 1]}\r\n`
    }
    return lines
  }

  #onBodyTimeout(): void {
    this.refuse(408, 'The request body arrived too slowly.')
  }

  get isComplete(): boolean {
    return this.#request.complete
  }

  refuse(status: number, message: string): void {
    const { socket } = this.#request
    // Later input is rejected by the parser too, while the response is being sent.
    if (rejectedConnections.has(socket)) return
    rejectedConnections.add(socket)
    this.#stopWaiting()
    this.#exchange?.abort()
    if (this.#writer.headersSent) this.#destroy()
    else this.send(createErrorResponse(status, message, this), true)
  }

  onDrain(): void {
    if (this.#bodyTimeout) this.#bodyTimeout.isSuspended = false
    if (this.#isPiping) this.#request.resume()
  }

  onHead(head: ResponseHead): void {
    if (this.#bodyTimeout) this.#bodyTimeout.isSuspended = true
    const list = parseHeaderLines(stripHsts(this.#request.socket, this.host, head.lines))
    list.push('X-Request-Id', this.id)
    if (this.#awaitsContinue) list.push('Connection', 'close')
    this.#writer.writeHead(head.status, head.reason, list)
    this.#metrics.recordStatus(head.status)
  }

  flushHead(): void {
    // An event stream may send nothing for a long time after its head.
    this.#writer.flushHeaders()
  }

  onData(bytes: Buffer, start: number, end: number): boolean {
    this.#metrics.recordBytes(end - start)
    // Node keeps the bytes until the end of the tick, but the buffer is reused, so they are copied.
    if (this.#writer.write(Buffer.from(bytes.subarray(start, end)))) return true
    this.#writer.once('drain', () => this.#exchange?.resume())
    return false
  }

  onEnd(trailers: string): void {
    this.#exchange = undefined
    if (trailers !== '') {
      const list = parseHeaderLines(trailers)
      const pairs: [string, string][] = []
      for (let i = 0; i < list.length; i += 2) pairs.push([list[i] ?? '', list[i + 1] ?? ''])
      this.#writer.addTrailers(pairs)
    }
    this.#drainRequest()
    this.#writer.end()
  }

  onError(failure: UpstreamFailure): void {
    this.#exchange = undefined
    if (this.#writer.headersSent) return this.#destroy()
    const replaced = this.#edge.router.find(this.host) !== this.#target
    if ((failure === 'refused' || failure === 'rerouted') && replaced) {
      this.#target?.removeRequest(this.#destroy, this.#isProbe)
      this.#target = undefined
      return this.#dispatch()
    }
    this.#edge.log.warn('edge.upstream_failed', { request_id: this.id, host: this.host, failure })
    this.#sendPage(pageForFailure(failure, this.#target?.route))
  }

  #onClose(): void {
    this.#stopWaiting()
    this.#bodyTimeout?.stop()
    this.#exchange?.abort()
    this.#exchange = undefined
    this.#metrics.recordClientClosed()
    this.#target?.removeRequest(this.#destroy, this.#isProbe)
    this.#target = undefined
  }
}
