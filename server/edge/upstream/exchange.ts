import type { Socket } from 'node:net'
import type { Timer } from '../../lib/clock.ts'
import type { ResponseHead } from './response-head.ts'

/**
 * What went wrong between us and the app. `cut`: its answer had begun. `moved`: it slept, and the name has another route by now;
 * nothing was sent, as with `refused`.
 */
export type UpstreamFailure = 'refused' | 'moved' | 'closed' | 'garbage' | 'timeout' | 'cut'

/** Who asked, and takes the answer. */
export interface ResponseHandler {
  /** Whether a chunked body is wanted as it came, framing and all. */
  readonly wantsRawChunks: boolean
  /** The request's head is on its way: the rest of its body may follow by `exchange.write`. */
  onRequestSent(): void
  /** The app takes more of the body again. */
  onDrain(): void
  /** An interim answer: 100. */
  onContinue(): void
  /** Another interim answer, 102 or 103, for the client. The answer itself comes later. */
  onInterim(head: ResponseHead): void
  onHead(head: ResponseHead): void
  /** The body will take a while: send the head on. */
  flushHead(): void
  /**
   * A part of the body, in memory that is used again; what is before `start` may be written over. True when the bytes are done with, false when they are still
   * needed; nothing more comes then until `exchange.resume()`. `framing`: how many of them are none of the body, but its chunks' framing.
   */
  onData(bytes: Buffer, start: number, end: number, framing?: number): boolean
  onEnd(trailers: string): void
  onError(failure: UpstreamFailure): void
}

export interface UpstreamRequest {
  /** Request line and headers with the empty line, in latin1. */
  head: string
  /** As much of the body as came with the head. */
  body: Buffer | null
  /** Whether that is all of it. */
  isComplete: boolean
  /** Whether it may be sent a second time: idempotent and without a body. */
  isRepeatable: boolean
  /** Whether the answer has no body (HEAD). */
  expectsNoBody: boolean
  isUpgrade: boolean
}

/** The connection that a request is on. */
interface ExchangeConnection {
  readonly socket: Socket
  /** The request moves on: the time to answer begins anew. */
  extendDeadline(): void
}

interface ExchangeDispatcher {
  /** Onto the connection that was used last, else onto a new one. */
  dispatch(exchange: Exchange, reuse: boolean): void
}

/** One request and its answer, over as many connections as it takes. */
export class Exchange {
  connection: ExchangeConnection | null = null
  /** Of a connection that is tried again. */
  timer: Timer | undefined
  wasRepeated = false
  /** Whether the whole request was written. */
  isSent: boolean
  isOver = false
  /** Interim answers so far. */
  interimCount = 0
  readonly upstream: ExchangeDispatcher
  /** May change once the head of the answer is known. */
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

  /** More of the request's body, framed as its head says. False: wait for `drained`. */
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

  /** Closes our half of a tunnel; the app may go on sending. */
  closeWriteHalf(): void {
    this.connection?.socket.end()
  }

  /** The client can take more. */
  resume(): void {
    this.connection?.socket.resume()
  }

  /** The client is gone, or nobody wants the answer: the app is told by the end of its connection. */
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
