import type { Socket } from 'node:net'
import { parseHeaderLines, type EdgeResponse } from '../response.ts'
import type { HostCache } from '../cache/host-cache.ts'
import { fieldValue, fieldValues } from '../cache/header-fields.ts'
import { shouldStripHsts, stripHsts } from '../https-redirect.ts'
import { forwardedHeaderLines, isEncrypted } from '../upstream/request-headers.ts'
import type { EdgeContext } from '../edge-context.ts'
import { edgeLimits } from '../limits.ts'
import { createErrorResponse } from '../status-pages.ts'
import { FastPathResponse } from './response.ts'
import { parseFastPathHead, createIncompleteHead, type FastPathHead } from './request-head.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { parseHostName } from '../host-header.ts'
import type { RouteTarget } from '../router.ts'
import type { RequestCapture } from '../request-capture.ts'
import { RequestLifecycle } from '../request-lifecycle.ts'
import type { Timeout } from '../deadline-timer.ts'
import type { UpstreamRequest } from '../upstream/exchange.ts'

/**
 * The fast path handles simple requests: it reads the head on the socket and forwards it as received. At the first unsupported feature, the
 * connection and the bytes of that request are handed over permanently to Node's own parser by `handOver`.
 */
export function serveFastPath(edge: EdgeContext, socket: Socket, handOver: (socket: Socket) => void): void {
  new FastPathConnection(edge, socket, handOver).start()
}

/** A client's connection. It also holds the state of the current request, so that no object is allocated per request. */
class FastPathConnection extends RequestLifecycle implements Timeout {
  readonly wantsRawChunks = true
  protected readonly protocol = 'HTTP/1.1'
  deadline: number
  readonly #socket: Socket
  readonly #handOver: (socket: Socket) => void
  /** Bytes that were received but not yet used. */
  #buffered: Buffer | null = null
  #isBusy = false
  #hasEnded = false
  #isClosing = false
  #request: FastPathHead | undefined
  #bodyRemaining = 0
  /** The part of the request's body that arrived with its head. */
  #earlyBody: Buffer | null = null
  readonly #response: FastPathResponse
  #lastBytesWritten = 0
  /** Host and forwarding headers, which seldom change on a connection. */
  #lastHost = ''
  #forwarded = ''
  #lastTarget: RouteTarget | undefined
  #cache: HostCache | null = null

  constructor(edge: EdgeContext, socket: Socket, handOver: (socket: Socket) => void) {
    super(edge, socket)
    this.#socket = socket
    this.#response = new FastPathResponse(edge, socket, this.metrics, () => this.exchange?.resume())
    this.#handOver = handOver
    this.deadline = edge.deadlines.now + edgeLimits.client_idle_ms
  }

  start(): void {
    this.edge.deadlines.add(this)
    this.edge.fastPathConnections.add(this)
    this.#socket.on('data', this.#onSocketData).on('end', this.#onSocketEnd).on('error', this.#onSocketError).on('close', this.#onSocketClose)
  }

  /** The edge is closing: closes after the current request, or now if there is none. The first request of a client, or the rest of one, may be on its way. */
  close(): void {
    if (!this.#request) return
    if (this.#isBusy) this.#request.wantsClose = true
    else this.#socket.destroy()
  }

  readonly #onSocketData = (bytes: Buffer): void => {
    if (this.#isClosing) return
    if (this.#bodyRemaining > 0 && this.bodyTimeout) return this.#forwardBody(bytes)
    if (!this.#isBusy) return this.#parse(bytes)
    this.#buffered = this.#buffered === null ? bytes : Buffer.concat([this.#buffered, bytes])
    if (this.#buffered.length > edgeLimits.pipelined_bytes) this.#socket.pause()
  }

  #parse(chunk: Buffer): void {
    const bytes = this.#buffered === null ? chunk : Buffer.concat([this.#buffered, chunk])
    this.#buffered = null
    const request = parseFastPathHead(bytes, bytes.length)
    if (request === undefined && bytes.length <= edgeLimits.head_bytes) {
      if (this.#request !== undefined || this.deadline > this.edge.deadlines.now + this.edge.header_timeout_ms)
        this.deadline = this.edge.deadlines.now + this.edge.header_timeout_ms
      this.#request = undefined
      this.#buffered = bytes
      return
    }
    if (request === undefined || request === 'unsupported' || request.body_start > edgeLimits.head_bytes) return this.#handOverSocket(bytes)
    this.#serve(request, bytes)
  }

  /** Hands the connection over to Node's parser. */
  #handOverSocket(bytes: Buffer): void {
    const socket = this.#socket
    // After FIN, Node cannot read bytes that are put back. An unsupported request behind a simple one is dropped with its connection.
    if (this.#hasEnded) return void socket.destroy()
    socket.off('data', this.#onSocketData).off('end', this.#onSocketEnd).off('error', this.#onSocketError).off('close', this.#onSocketClose)
    this.edge.deadlines.delete(this)
    this.edge.fastPathConnections.delete(this)
    socket.pause()
    socket.unshift(bytes)
    this.#handOver(socket)
    socket.resume()
  }

  #serve(request: FastPathHead, bytes: Buffer): void {
    this.#isBusy = true
    this.deadline = 0
    this.#request = request
    if (this.edge.isClosing) request.wantsClose = true
    this.#response.reset()
    this.metrics.start()
    this.id = this.edge.newRequestId()
    this.method = request.method
    this.target = request.target
    const host = parseHostName(request.host)
    const bodyEnd = Math.min(bytes.length, request.body_start + request.body_length)
    this.#bodyRemaining = request.body_length - (bodyEnd - request.body_start)
    this.#buffered = bodyEnd < bytes.length ? bytes.subarray(bodyEnd) : null
    if (this.#bodyRemaining > 0) this.#socket.pause()
    if (host === undefined) return this.send(createErrorResponse(400, 'The Host header is not a valid host name.', this), true)
    this.host = host
    this.#earlyBody = bodyEnd > request.body_start ? bytes.subarray(request.body_start, bodyEnd) : null
    this.begin()
  }

  protected findCache(target: RouteTarget): HostCache | null {
    const host = this.#request?.host ?? ''
    if (this.#lastHost !== host || this.#lastTarget !== target) {
      this.#lastHost = host
      this.#lastTarget = target
      this.#forwarded = forwardedHeaderLines(this.#socket, host)
      this.#cache = target.cacheFor === null ? null : target.cacheFor(isEncrypted(this.#socket), host)
    }
    return this.#cache
  }

  protected sendFresh(cache: HostCache): boolean {
    const request = this.#request
    if (!request?.isSimpleGet || request.wantsClose || shouldStripHsts(this.#socket, this.host)) return false
    const now = this.edge.clock.now()
    const entry = cache.findFresh(request.target, now)
    if (entry === null) return false
    this.#response.sendStored(entry, this.id, now)
    this.#finishRequest()
    return true
  }

  protected captureRequest(capture: RequestCapture): void {
    capture.requestHeaders = parseHeaderLines(this.#request?.lines.replace(/^[^\n]*\n/, '') ?? '')
    if (this.#earlyBody !== null) capture.requestBody.add(this.#earlyBody)
  }

  buildUpstreamRequest(): UpstreamRequest {
    const { method } = this
    const hasBody = this.hasBody()
    return {
      head: `${this.#request?.lines}${this.#forwarded}${this.id}\r\n${this.metrics.traceParentLine(this.id, this.#request?.traceparent)}\r\n`,
      body: this.#earlyBody,
      isComplete: this.#bodyRemaining === 0,
      isRepeatable: !hasBody && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS'),
      expectsNoBody: method === 'HEAD',
      isUpgrade: false,
    }
  }

  hasBody(): boolean {
    return (this.#request?.body_length ?? 0) > 0
  }

  header(name: string): string | undefined {
    if (name === 'traceparent') return this.#request?.traceparent
    return fieldValue(this.#request?.lines ?? '', name)
  }

  fields(name: string): string | undefined {
    const values = fieldValues(this.#request?.lines ?? '', name)
    return values.length > 1 ? values.join(', ') : values[0]
  }

  onRequestSent(replica: number | null): void {
    this.metrics.markSent(replica)
    if (this.#bodyRemaining === 0) return
    if (!this.bodyTimeout) this.startBodyTimeout()
    this.#socket.resume()
  }

  #forwardBody(chunk: Buffer): void {
    let bytes = chunk
    if (bytes.length > this.#bodyRemaining) {
      this.#buffered = bytes.subarray(this.#bodyRemaining)
      bytes = bytes.subarray(0, this.#bodyRemaining)
    }
    this.#bodyRemaining -= bytes.length
    if (this.bodyTimeout) this.bodyTimeout.bytes += bytes.length
    this.metrics.capture?.requestBody.add(bytes)
    const canContinue = this.exchange?.write(bytes) ?? true
    if (this.#bodyRemaining === 0) {
      this.bodyTimeout?.stop()
      this.bodyTimeout = undefined
      this.exchange?.finish()
    } else if (!canContinue) {
      if (this.bodyTimeout) this.bodyTimeout.isSuspended = true
      this.#socket.pause()
    }
  }

  onDrain(): void {
    if (this.bodyTimeout === undefined) return
    this.bodyTimeout.isSuspended = this.#response.hasStarted
    this.#socket.resume()
  }

  onContinue(): void {}

  onInterim(head: ResponseHead): void {
    this.#socket.write(`HTTP/1.1 ${head.status} ${head.reason}\r\n${stripHsts(this.#socket, this.host, head.lines)}\r\n`, 'latin1')
  }

  onHead(head: ResponseHead): void {
    if (this.bodyTimeout) this.bodyTimeout.isSuspended = true
    this.#response.writeHead(head, this, this.#request?.wantsClose === true)
  }

  flushHead(): void {
    this.#response.flush()
  }

  onData(bytes: Buffer, start: number, end: number, framing = 0): boolean {
    return this.#response.write(bytes, start, end, framing)
  }

  onEnd(): void {
    this.exchange = undefined
    this.#response.end()
    this.#finishRequest()
  }

  protected get isAnswered(): boolean {
    return !this.#isBusy
  }

  protected get hasStarted(): boolean {
    return this.#response.hasStarted
  }

  protected dropHead(): void {
    this.#response.reset()
  }

  send(response: EdgeResponse, close = false): void {
    if (this.#socket.destroyed || !this.#isBusy) {
      if (response.body !== null && !Buffer.isBuffer(response.body)) response.body.close()
      return
    }
    const request = this.#request
    if (close && request) request.wantsClose = true
    const later = this.#response.send(response, this, request?.wantsClose === true || this.#bodyRemaining > 0)
    if (later === undefined) this.#finishRequest()
    else void later.then((isComplete) => (isComplete ? this.#finishRequest() : this.destroy()))
  }

  /** The response is complete. */
  #finishRequest(): void {
    this.release()
    this.#isBusy = false
    if (this.#request?.wantsClose || this.#bodyRemaining > 0) return this.#lingerAndClose()
    const ahead = this.#buffered
    this.deadline = this.edge.deadlines.now + edgeLimits.client_idle_ms
    if (ahead !== null) {
      this.#buffered = null
      this.#socket.resume()
      // Queued, so that a thousand pipelined requests do not nest a thousand stack frames.
      queueMicrotask(() => this.#onSocketData(ahead))
      return
    }
    if (this.#hasEnded) this.#socket.end()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  /** Closes after the last response. Further input is read and dropped, so that a reset does not overtake the response. */
  #lingerAndClose(): void {
    this.bodyTimeout?.stop()
    this.#isClosing = true
    this.#buffered = null
    this.#socket.end()
    this.#socket.resume()
    this.deadline = this.edge.deadlines.now + edgeLimits.linger_ms
  }

  expire(): void {
    const socket = this.#socket
    if (this.#isClosing || (!this.#isBusy && this.#buffered === null)) return void socket.destroy()
    if (!this.#isBusy) {
      this.#isBusy = true
      this.id = this.edge.newRequestId()
      this.method = 'GET'
      this.#request = createIncompleteHead(this.#buffered)
      return this.send(createErrorResponse(408, 'The request headers did not arrive in time.', this), true)
    }
    // The client has sent FIN. If it still accepts bytes, it closed only its write half; if no bytes move, it is gone.
    if (this.#lastBytesWritten === socket.bytesWritten) return void socket.destroy()
    this.#lastBytesWritten = socket.bytesWritten
    this.deadline = this.edge.deadlines.now + edgeLimits.half_closed_ms
  }

  readonly #onSocketEnd = (): void => {
    this.#hasEnded = true
    if (this.#isClosing) return
    if (this.#bodyRemaining > 0) return void this.#socket.destroy()
    if (!this.#isBusy) return void this.#socket.end()
    this.#lastBytesWritten = this.#socket.bytesWritten
    this.deadline = this.edge.deadlines.now + edgeLimits.half_closed_ms
  }

  readonly #onSocketError = (): void => {}

  readonly #onSocketClose = (): void => {
    this.edge.deadlines.delete(this)
    this.edge.fastPathConnections.delete(this)
    this.stop()
  }
}
