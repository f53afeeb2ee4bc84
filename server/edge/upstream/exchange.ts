import type { Socket } from 'node:net'
import type { Timer } from '../../lib/clock.ts'
import type { ResponseHead } from './response-head.ts'

/**
 * Why an exchange with an app failed. `cut`: the response had begun. `rerouted`: the app was asleep and the host has another route now; as with
 * `refused`, nothing was sent.
 */
export type UpstreamFailure = 'refused' | 'rerouted' | 'closed' | 'malformed' | 'timeout' | 'cut'

/** Receives the response to a request. */
export interface ResponseHandler {
  /** Whether a chunked body is wanted as received, including its framing. */
  readonly wantsRawChunks: boolean
  /** The request's head was sent to this replica, null for the only one. The rest of its body may follow with `exchange.write`. */
  onRequestSent(replica: number | null): void
  /** The app accepts more of the request body. */
  onDrain(): void
  /** The interim response 100. */
  onContinue(): void
  /** Interim response 102 or 103, to be forwarded. The final response follows. */
  onInterim(head: ResponseHead): void
  onHead(head: ResponseHead): void
  /** The body is not available yet; the head should be sent now. */
  flushHead(): void
  /**
   * A part of the body, in a buffer that is reused. Bytes before `start` may be overwritten. Returns true if the bytes are no longer needed; false
   * stops reading until `exchange.resume()`. `framing`: how many of the bytes are chunk framing.
   */
  onData(bytes: Buffer, start: number, end: number, framing?: number): boolean
  onEnd(trailers: string): void
  onError(failure: UpstreamFailure): void
}

export interface UpstreamRequest {
  /** Request line and headers with the empty line, in latin1. */
  head: string
  /** The part of the body that arrived with the head. */
  body: Buffer | null
  /** Whether that is the whole body. */
  isComplete: boolean
  /** Whether the request may be sent twice: idempotent and without a body. */
  isRepeatable: boolean
  /** Whether the response has no body (HEAD). */
  expectsNoBody: boolean
  isUpgrade: boolean
}

/** The connection that carries an exchange. */
interface ExchangeConnection {
  readonly socket: Socket
  /** The request makes progress, so the response timeout starts again. */
  extendDeadline(): void
}

interface ExchangeDispatcher {
  /** Sends on the most recently used connection if `reuse` is set, else on a new one. */
  dispatch(exchange: Exchange, reuse: boolean): void
}

/** One request and its response, on as many connections as it takes. */
export class Exchange {
  connection: ExchangeConnection | null = null
  /** Delays the next connection attempt. */
  timer: Timer | undefined
  wasRepeated = false
  /** Whether the whole request was written. */
  isSent: boolean
  isOver = false
  /** Number of interim responses so far. */
  interimCount = 0
  readonly upstream: ExchangeDispatcher
  /** May be replaced once the head of the response is known. */
  handler: ResponseHandler
  readonly request: UpstreamRequest

  constructor(upstream: ExchangeDispatcher, handler: ResponseHandler, request: UpstreamRequest) {
    this.upstream = upstream
    this.handler = handler
    this.request = request
    this.isSent = request.isComplete
  }

  start(): void {
    this.upstream.dispatch(this, true)
  }

  /** Writes more of the request's body, framed as its head says. False: wait for `onDrain`. */
  write(bytes: Buffer | string): boolean {
    const connection = this.connection
    if (connection === null || this.isOver) return true
    connection.extendDeadline()
    return typeof bytes === 'string' ? connection.socket.write(bytes, 'latin1') : connection.socket.write(bytes)
  }

  finish(): void {
    this.isSent = true
    this.connection?.extendDeadline()
  }

  /** Closes the edge's half of a tunnel. The app may still send. */
  closeWriteHalf(): void {
    this.connection?.socket.end()
  }

  /** The client accepts more bytes. */
  resume(): void {
    this.connection?.socket.resume()
  }

  /** The response is no longer needed. The app learns this because its connection is closed. */
  abort(): void {
    if (this.isOver) return
    this.isOver = true
    this.timer?.cancel()
    this.connection?.socket.destroy()
    this.connection = null
  }

  fail(failure: UpstreamFailure): void {
    if (this.isOver) return
    this.isOver = true
    this.timer?.cancel()
    this.connection?.socket.destroy()
    this.connection = null
    this.handler.onError(failure)
  }
}
