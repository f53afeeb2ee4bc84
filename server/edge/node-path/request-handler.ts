import type { Server } from 'node:http'
import { groupHeaderLines, parseHeaderLines, type EdgeResponse } from '../response.ts'
import type { ResponseWriter, EdgeRequest, Transport } from '../request.ts'
import { stripHsts } from '../https-redirect.ts'
import type { HostCache } from '../cache/host-cache.ts'
import type { PendingResponse } from '../cache/reader.ts'
import { forwardedHeaderLines, isEncrypted, isForwardable } from '../upstream/request-headers.ts'
import type { EdgeContext } from '../edge-context.ts'
import { edgeLimits } from '../limits.ts'
import { isInternalProbe } from '../internal-probe.ts'
import { createErrorResponse } from '../status-pages.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { requestHost } from '../network-listener.ts'
import type { RequestCapture } from '../request-capture.ts'
import { RequestLifecycle } from '../request-lifecycle.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import type { RouteTarget } from '../router.ts'
import { sendFileSlice } from '../static/send-file.ts'
import { validateRequest } from './request-validation.ts'
import type { UpstreamRequest } from '../upstream/exchange.ts'

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
export function buildUpstreamHead(request: EdgeRequest, id: string, lines: string, metrics: RequestMetrics): string {
  const raw = request.rawHeaders
  const connectionNames = new Set(
    (request.headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  // The edge sends its own.
  connectionNames.add('traceparent')
  // `Connection` cannot declare framing or Host as hop-by-hop headers.
  for (const name of ['host', 'content-length']) connectionNames.delete(name)
  const isSafeMethod = request.method === 'GET' || request.method === 'HEAD'
  let head = `${request.method} ${request.url} HTTP/1.1\r\n`
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase() ?? ''
    if (isForwardable(name, isSafeMethod) && !connectionNames.has(name)) head += `${raw[i]}: ${raw[i + 1]}\r\n`
  }
  return `${head}${lines}${forwardedHeaderLines(request.socket, request.headers.host ?? '')}${id}\r\n${metrics.traceParentLine(id, readTraceParent(request))}\r\n`
}

const readTraceParent = ({ headers: { traceparent } }: EdgeRequest): string | undefined => (typeof traceparent === 'string' ? traceparent : undefined)

const rejectedConnections = new WeakSet<Transport>()
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
const safeMethods = new Set([...repeatableMethods, 'TRACE'])

/** Pipelined requests are served at the same time as long as all are safe, and otherwise one after the other (RFC 9112 §9.3.2). */
function beginNext(requests: Iterable<{ isSafe: boolean; beginInTurn(): void }>): void {
  let isFirst = true
  for (const request of requests) {
    if (!isFirst && !request.isSafe) return
    isFirst = false
    request.beginInTurn()
    if (!request.isSafe) return
  }
}

/** One request on the node path. */
class NodePathRequest extends RequestLifecycle {
  readonly wantsRawChunks = false
  protected readonly protocol: string
  readonly #request: EdgeRequest
  readonly #writer: ResponseWriter
  readonly #isChunked: boolean
  readonly #hasBody: boolean
  /** Waiting for the app's response to `Expect: 100-continue`. */
  #awaitsContinue: boolean
  #isPiping = false
  #hasBegun = false

  constructor(edge: EdgeContext, request: EdgeRequest, writer: ResponseWriter, awaitsContinue: boolean) {
    super(edge, request.socket)
    this.protocol = request.socket.protocol ?? `HTTP/${request.httpVersion}`
    this.id = edge.newRequestId()
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.host = requestHost(edge, request)
    this.metrics.start()
    this.#request = request
    this.#writer = writer
    this.#awaitsContinue = awaitsContinue
    this.isProbe = isInternalProbe(edge, request)
    this.#isChunked = request.headers['transfer-encoding'] !== undefined
    this.#hasBody = this.#isChunked || (request.headers['content-length'] ?? '0') !== '0'
    request.on('error', () => {})
    writer.on('error', () => {})
    writer.on('close', () => this.stop())
  }

  /** HTTP/2 closes its connections itself. */
  #mustClose(): boolean {
    return this.#awaitsContinue || (this.edge.isClosing && this.#request.httpVersion === '1.1')
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  serve(): void {
    // Bytes after a rejected request may be the rest of it, crafted to look like a request.
    const socket = this.#request.socket
    if (rejectedConnections.has(socket)) return
    const connectionRequests = this.edge.requestsByConnection.get(socket) ?? { requests: new Set(), onAllAnswered: undefined }
    this.edge.requestsByConnection.set(socket, connectionRequests)
    connectionRequests.requests.add(this)
    this.#writer.on('close', () => {
      connectionRequests.requests.delete(this)
      beginNext(connectionRequests.requests)
      if (connectionRequests.requests.size === 0) connectionRequests.onAllAnswered?.()
    })
    // Node reads pipelined requests before it has answered the previous ones, and each may cause a concurrent request to the app.
    if (connectionRequests.requests.size > edgeLimits.pipelined_requests) return this.destroy()
    const rejection = validateRequest(this.#request)
    if (rejection) {
      this.#hasBegun = true
      rejectedConnections.add(socket)
      return this.send(createErrorResponse(rejection.status, rejection.message, this), true)
    }
    beginNext(connectionRequests.requests)
  }

  get isSafe(): boolean {
    return safeMethods.has(this.method)
  }

  beginInTurn(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    if (!this.#writer.destroyed) this.begin()
  }

  protected findCache(target: RouteTarget): HostCache | null {
    return target.cacheFor?.(isEncrypted(this.#request.socket), this.#request.headers.host ?? '') ?? null
  }

  protected sendFresh(): boolean {
    return false
  }

  protected captureRequest(capture: RequestCapture): void {
    capture.requestHeaders = this.#request.rawHeaders
  }

  buildUpstreamRequest(): UpstreamRequest {
    const lines = (this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '') + (this.#awaitsContinue ? 'Expect: 100-continue\r\n' : '')
    return {
      head: buildUpstreamHead(this.#request, this.id, lines, this.metrics),
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

  send(response: EdgeResponse, close = false): void {
    const writer = this.#writer
    if (writer.headersSent || writer.destroyed) {
      if (response.body && !Buffer.isBuffer(response.body)) response.body.close()
      return
    }
    const list = parseHeaderLines(stripHsts(this.#request.socket, this.host, response.lines))
    list.push('X-Request-Id', this.id)
    if (response.length >= 0) list.push('Content-Length', String(response.length))
    if (close || this.#mustClose()) list.push('Connection', 'close')
    writer.writeHead(response.status, list)
    this.metrics.recordStatus(response.status)
    this.metrics.capture?.setResponseHead(response.lines, false)
    this.#drainRequest()
    if (response.body === null || this.method === 'HEAD') {
      if (response.body && !Buffer.isBuffer(response.body)) response.body.close()
      writer.end()
    } else if (Buffer.isBuffer(response.body)) {
      this.metrics.recordBytes(response.body.length)
      this.metrics.capture?.responseBody.add(response.body)
      writer.end(response.body)
    } else
      void sendFileSlice(response.body, writer, (bytes) => this.metrics.recordFilePart(bytes)).then((isComplete) =>
        isComplete ? writer.end() : this.destroy(),
      )
  }

  /** Reads and drops the rest of a request for a moment after it was answered, so that a reset does not discard the response. */
  #drainRequest(): void {
    const request = this.#request
    this.bodyTimeout?.stop()
    if (request.complete || this.#awaitsContinue) return
    request.removeAllListeners('data')
    request.resume()
    const timeout = { deadline: this.edge.deadlines.now + edgeLimits.linger_ms, expire: () => void (request.complete || this.destroy()) }
    this.edge.deadlines.add(timeout)
    request.once('close', () => this.edge.deadlines.delete(timeout))
  }

  onRequestSent(replica: number | null): void {
    this.metrics.markSent(replica)
    if (!this.#hasBody || !this.exchange) return
    if (this.#awaitsContinue) {
      const exchange = this.exchange
      const timeout = {
        deadline: this.edge.deadlines.now + edgeLimits.continue_timeout_ms,
        expire: () => void (this.exchange === exchange && this.onContinue()),
      }
      this.edge.deadlines.add(timeout)
      this.#writer.once('close', () => this.edge.deadlines.delete(timeout))
      return
    }
    this.#pipeBody(this.exchange)
  }

  onContinue(): void {
    if (!this.#awaitsContinue || !this.exchange || this.#writer.headersSent) return
    this.#awaitsContinue = false
    this.#writer.writeContinue()
    this.#pipeBody(this.exchange)
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

  #pipeBody(exchange: PendingResponse): void {
    const request = this.#request
    const bodyTimeout = this.startBodyTimeout()
    this.#isPiping = true
    request.on('data', (bytes: Buffer) => {
      bodyTimeout.bytes += bytes.length
      this.metrics.capture?.requestBody.add(bytes)
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

  get isComplete(): boolean {
    return this.#request.complete
  }

  override refuse(status: number, message: string): void {
    const { socket } = this.#request
    // Later input is rejected by the parser too, while the response is being sent.
    if (rejectedConnections.has(socket)) return
    rejectedConnections.add(socket)
    super.refuse(status, message)
  }

  onDrain(): void {
    if (this.bodyTimeout) this.bodyTimeout.isSuspended = false
    if (this.#isPiping) this.#request.resume()
  }

  onHead(head: ResponseHead): void {
    if (this.bodyTimeout) this.bodyTimeout.isSuspended = true
    const lines = stripHsts(this.#request.socket, this.host, head.lines)
    this.metrics.capture?.setResponseHead(lines, false)
    const list = parseHeaderLines(lines)
    list.push('X-Request-Id', this.id)
    if (this.#mustClose()) list.push('Connection', 'close')
    this.#writer.writeHead(head.status, head.reason, list)
    this.metrics.recordStatus(head.status)
  }

  flushHead(): void {
    // An event stream may send nothing for a long time after its head.
    this.#writer.flushHeaders()
  }

  onData(bytes: Buffer, start: number, end: number): boolean {
    this.metrics.recordBytes(end - start)
    this.metrics.capture?.responseBody.add(bytes, start, end)
    // Node keeps the bytes until the end of the tick, but the buffer is reused, so they are copied.
    if (this.#writer.write(Buffer.from(bytes.subarray(start, end)))) return true
    this.#writer.once('drain', () => this.exchange?.resume())
    return false
  }

  onEnd(trailers: string): void {
    this.exchange = undefined
    if (trailers !== '') {
      const list = parseHeaderLines(trailers)
      const pairs: [string, string][] = []
      for (let i = 0; i < list.length; i += 2) pairs.push([list[i] ?? '', list[i + 1] ?? ''])
      this.#writer.addTrailers(pairs)
    }
    this.#drainRequest()
    this.#writer.end()
  }

  protected get isAnswered(): boolean {
    return this.#writer.writableFinished
  }

  protected get hasStarted(): boolean {
    return this.#writer.headersSent
  }

  protected dropHead(): void {}
}
