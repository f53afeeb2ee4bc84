import { connect, type Socket } from 'node:net'
import { malformed, ChunkedBodyScanner, needMore } from './chunked-scanner.ts'
import type { Exchange } from './exchange.ts'
import { edgeLimits } from '../limits.ts'
import { parseResponseHead, type ResponseHead } from './response-head.ts'
import type { DeadlineTimer, Timeout } from '../deadline-timer.ts'

export interface UpstreamAddress {
  host: string
  port: number
  /** The number of the replica, for the request log. Absent: the app has one. */
  replica?: number
}

export interface UpstreamOptions {
  connect_timeout_ms: number
  response_timeout_ms: number
}

/** The pool that a connection belongs to: all connections to one replica of an app. */
export interface UpstreamPool {
  address: UpstreamAddress
  deadlines: DeadlineTimer
  options: UpstreamOptions
  connections: Set<UpstreamConnection>
  /** Requests without an answer since the last answer. */
  failures: number
  /** Whether the app has other replicas. */
  readonly siblings: { onFailure(pool: UpstreamPool, wasRefused: boolean): void; findOther(failed: UpstreamPool): UpstreamPool | undefined } | null
  /** Sends on the most recently used connection if `reuse` is set, else on a new one. */
  dispatch(exchange: Exchange, reuse: boolean): void
  release(connection: UpstreamConnection): void
  remove(connection: UpstreamConnection): void
  /** Repeats the requests that wait for an answer elsewhere if the replica cannot be reached. */
  checkReachable(): void
}

const idlePhase = 0
const headPhase = 1
const lengthPhase = 2
const chunkedPhase = 3
const closePhase = 4
const tunnelPhase = 5

const largeBuffers: Buffer[] = []
const allocateBuffer = (bytes: number): Buffer => Buffer.allocUnsafeSlow(edgeLimits.headroom_bytes + bytes)

/** A connection to an app, which carries at most one request at a time. */
export class UpstreamConnection implements Timeout {
  deadline = 0
  exchange: Exchange | null = null
  onRefused: (() => void) | null
  readonly socket: Socket
  readonly #pool: UpstreamPool
  #phase = headPhase
  #remaining = 0
  #scanner: ChunkedBodyScanner | null = null
  #partialHead: Buffer | null = null
  #keepAlive = true
  #keepAlive_ms: number = edgeLimits.upstream_idle_ms
  #lastUsed = 0
  /** When the request was sent. */
  #sentAt = 0
  #isReused = false
  #hasResponse = false
  /** Whether the handler still needs the bytes in the buffer. */
  #isBufferInUse = false
  #buffer: Buffer = allocateBuffer(edgeLimits.small_read_bytes)
  /** The small buffer, while a large one is in use. */
  #smallBuffer: Buffer | null = null
  /** The same memory without its headroom: the target of the next read. */
  #readTarget: Buffer = this.#buffer.subarray(edgeLimits.headroom_bytes)

  constructor(pool: UpstreamPool) {
    this.#pool = pool
    this.onRefused = null
    pool.connections.add(this)
    pool.deadlines.add(this)
    this.socket = connect({
      host: pool.address.host,
      port: pool.address.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      allowHalfOpen: true,
      onread: { buffer: () => this.#readTarget, callback: (count) => this.#read(count) },
    })
    this.socket.on('connect', () => {
      const exchange = this.exchange
      this.onRefused = null
      if (exchange) this.send(exchange)
    })
    this.socket.on('drain', () => this.exchange?.handler.onDrain())
    this.socket.on('end', () => this.#onEnd())
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.#onClose())
  }

  /** Whether the connection may carry a request that requires use since `usedSince`. */
  isReusable(usedSince: number): boolean {
    return (
      this.#lastUsed >= usedSince &&
      this.#lastUsed + this.#keepAlive_ms > this.#pool.deadlines.now &&
      this.socket.writable &&
      !this.socket.readableEnded
    )
  }

  send(exchange: Exchange): void {
    this.exchange = exchange
    exchange.connection = this
    this.#phase = headPhase
    this.#hasResponse = false
    this.#sentAt = this.#pool.deadlines.now
    this.deadline = this.#sentAt + (this.#canRepeat(exchange) ? edgeLimits.replica_silence_ms : this.#pool.options.response_timeout_ms)
    const { head, body } = exchange.request
    if (body === null) this.socket.write(head, 'latin1')
    else {
      const bytes = Buffer.allocUnsafe(head.length + body.length)
      bytes.write(head, 0, 'latin1')
      body.copy(bytes, head.length)
      this.socket.write(bytes)
    }
    exchange.handler.onRequestSent(this.#pool.address.replica ?? null)
  }

  /** The request makes progress, so the response timeout starts again. */
  extendDeadline(): void {
    if (this.#phase === headPhase) this.deadline = this.#pool.deadlines.now + this.#pool.options.response_timeout_ms
  }

  expire(): void {
    if (this.onRefused) this.socket.destroy()
    else if (this.exchange) {
      const end = this.#sentAt + this.#pool.options.response_timeout_ms
      if (this.#canRepeat(this.exchange) && this.#pool.deadlines.now < end) {
        this.deadline = Math.min(end, this.#pool.deadlines.now + edgeLimits.replica_silence_ms)
        return this.#pool.checkReachable()
      }
      // `BodyTimeout` handles a client that sends slowly. This timeout is for an app that neither answers nor reads.
      if (this.exchange.isSent || this.socket.writableNeedDrain) {
        this.#pool.siblings?.onFailure(this.#pool, false)
        this.exchange.fail('timeout')
      } else this.extendDeadline()
    } else this.socket.destroy()
  }

  /** Whether another replica could answer the request. */
  #canRepeat({ request, wasRepeated }: Exchange): boolean {
    return this.#pool.siblings !== null && request.isRepeatable && !wasRepeated && !this.#hasResponse
  }

  /** The replica cannot be reached: a request that may be repeated goes elsewhere. */
  giveUp(): void {
    if (this.onRefused === null && this.#phase === headPhase && this.exchange && this.#canRepeat(this.exchange)) this.socket.destroy()
  }

  /** Returns false to stop reading until `resume`. */
  #read(count: number): boolean {
    this.#isBufferInUse = false
    const exchange = this.exchange
    if (exchange === null) {
      // Unsolicited bytes must not become the response to the next request.
      this.socket.destroy()
      return false
    }
    let bytes = this.#buffer
    let at: number = edgeLimits.headroom_bytes
    let end = at + count
    while (this.#phase === headPhase) {
      this.#hasResponse = true
      if (this.#partialHead !== null) {
        bytes = Buffer.concat([this.#partialHead, bytes.subarray(at, end)])
        at = 0
        end = bytes.length
        this.#partialHead = null
      }
      const head = parseResponseHead(bytes, at, end)
      if (head === undefined) {
        this.#partialHead = Buffer.from(bytes.subarray(at, end))
        return true
      }
      if (head === 'malformed') {
        exchange.fail('malformed')
        return false
      }
      at = head.body_start
      if (head.status >= 200 || (head.status === 101 && exchange.request.isUpgrade)) this.#startResponse(exchange, head)
      else if (head.status === 101) {
        exchange.fail('malformed')
        return false
      } else if (head.status === 100) exchange.handler.onContinue()
      // Other codes are unknown, and none may have a body (RFC 9110 §15.2 and §8.6), so they are dropped.
      else if (
        (head.status === 102 || head.status === 103) &&
        head.length < 0 &&
        !head.chunked &&
        exchange.interimCount++ < edgeLimits.interim_responses
      )
        exchange.handler.onInterim(head)
      if (exchange.isOver) return false
    }
    const shouldContinue = this.#readBody(exchange, bytes, at, end)
    if (at === end && this.exchange === exchange) exchange.handler.flushHead()
    return shouldContinue
  }

  #startResponse(exchange: Exchange, head: ResponseHead): void {
    this.deadline = 0
    this.#pool.failures = 0
    this.#keepAlive = head.keepAlive
    // One second less than announced, because the app may close while the edge writes.
    this.#keepAlive_ms = head.keepAlive_ms === 0 ? edgeLimits.upstream_idle_ms : Math.min(edgeLimits.upstream_idle_ms, head.keepAlive_ms - 1000)
    if (head.status === 101) this.#phase = tunnelPhase
    else if (exchange.request.expectsNoBody || head.status === 204 || head.status === 304) {
      this.#phase = lengthPhase
      this.#remaining = 0
    } else if (head.chunked) {
      this.#phase = chunkedPhase
      this.#scanner = new ChunkedBodyScanner()
    } else if (head.length >= 0) {
      this.#phase = lengthPhase
      this.#remaining = head.length
      if (head.length > edgeLimits.small_read_bytes) this.#useLargeBuffer()
    } else {
      this.#phase = closePhase
      this.#keepAlive = false
    }
    exchange.handler.onHead(head)
  }

  #readBody(exchange: Exchange, bytes: Buffer, start: number, end: number): boolean {
    const handler = exchange.handler
    if (this.#phase === lengthPhase) {
      const bodyEnd = Math.min(end, start + this.#remaining)
      if (bodyEnd > start) {
        this.#remaining -= bodyEnd - start
        if (!handler.onData(bytes, start, bodyEnd)) this.#isBufferInUse = true
      }
      if (exchange.isOver) return false
      if (this.#remaining === 0) this.#finish(exchange, bodyEnd < end)
      return !this.#isBufferInUse || this.exchange === null
    }
    if (this.#phase === chunkedPhase && this.#scanner) {
      const scanner = this.#scanner
      const previous_bytes = scanner.body_bytes
      const bodyEnd = scanner.scan(
        bytes,
        start,
        end,
        handler.wantsRawChunks ? null : (from, to) => void (handler.onData(bytes, from, to) || (this.#isBufferInUse = true)),
      )
      if (bodyEnd === malformed) {
        exchange.fail('cut')
        return false
      }
      const chunkEnd = bodyEnd === needMore ? end : bodyEnd
      if (
        handler.wantsRawChunks &&
        chunkEnd > start &&
        !handler.onData(bytes, start, chunkEnd, chunkEnd - start - (scanner.body_bytes - previous_bytes))
      )
        this.#isBufferInUse = true
      if (exchange.isOver) return false
      if (bodyEnd !== needMore) this.#finish(exchange, bodyEnd < end)
      else if (end - start === edgeLimits.small_read_bytes && !this.#isBufferInUse) this.#useLargeBuffer()
      return !this.#isBufferInUse || this.exchange === null
    }
    if (end > start && !handler.onData(bytes, start, end)) this.#isBufferInUse = true
    return !this.#isBufferInUse
  }

  /** The response is complete. `hasSurplus`: the app sent more bytes than that. */
  #finish(exchange: Exchange, hasSurplus: boolean): void {
    const trailers = this.#scanner?.trailers ?? ''
    this.#scanner = null
    this.#useSmallBuffer()
    exchange.isOver = true
    exchange.connection = null
    this.exchange = null
    this.#phase = idlePhase
    this.#lastUsed = this.#pool.deadlines.now
    this.#isReused = true
    if (hasSurplus || !this.#keepAlive || !exchange.isSent) this.socket.destroy()
    else {
      this.deadline = this.#lastUsed + edgeLimits.upstream_idle_ms
      this.#pool.release(this)
    }
    exchange.handler.onEnd(trailers)
  }

  #onEnd(): void {
    const exchange = this.exchange
    if (this.#phase === tunnelPhase && exchange) return exchange.handler.onEnd('')
    if (this.#phase === closePhase && exchange) this.#finish(exchange, true)
    this.socket.destroy()
  }

  #onClose(): void {
    this.#pool.remove(this)
    if (this.onRefused) return this.onRefused()
    const exchange = this.exchange
    this.exchange = null
    if (exchange === null || exchange.isOver) return
    exchange.connection = null
    if (this.#phase !== headPhase) return exchange.fail('cut')
    const { siblings } = this.#pool
    if (siblings && !this.#isReused && !this.#hasResponse) siblings.onFailure(this.#pool, false)
    // The app closed the idle connection while the edge was writing. If there are other replicas, one of them may answer.
    if ((this.#isReused || siblings) && !this.#hasResponse && !exchange.wasRepeated && exchange.request.isRepeatable) {
      exchange.wasRepeated = true
      return (siblings?.findOther(this.#pool) ?? this.#pool).dispatch(exchange, false)
    }
    exchange.fail('closed')
  }

  #useLargeBuffer(): void {
    if (this.#readTarget.length >= edgeLimits.large_read_bytes) return
    this.#smallBuffer = this.#buffer
    this.#setBuffer(largeBuffers.pop() ?? allocateBuffer(edgeLimits.large_read_bytes))
  }

  #useSmallBuffer(): void {
    const large = this.#readTarget.length === edgeLimits.large_read_bytes
    if (!large && !this.#isBufferInUse) return
    // A buffer that the client still reads from is not reused.
    if (large && !this.#isBufferInUse && largeBuffers.length < 16) largeBuffers.push(this.#buffer)
    this.#setBuffer(this.#smallBuffer ?? allocateBuffer(edgeLimits.small_read_bytes))
    this.#smallBuffer = null
  }

  #setBuffer(buffer: Buffer): void {
    this.#buffer = buffer
    this.#readTarget = buffer.subarray(edgeLimits.headroom_bytes)
  }
}
