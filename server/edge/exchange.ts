import type { Socket } from 'node:net'
import type { Timer } from '../lib/clock.ts'
import type { ResponseHead } from './response-head.ts'

/**
 * What went wrong between us and the app. `cut`: its answer had begun. `moved`: it slept, and the name has another route by now;
 * nothing was sent, as with `refused`.
 */
export type Failure = 'refused' | 'moved' | 'closed' | 'garbage' | 'timeout' | 'cut'

/** Who asked, and takes the answer. */
export interface Sink {
  /** Whether a chunked body is wanted as it came, framing and all. */
  readonly raw: boolean
  /** The request's head is on its way: the rest of its body may follow by `exchange.write`. */
  ready(): void
  /** The app takes more of the body again. */
  drained(): void
  /** An interim answer: 100. */
  proceed(): void
  /** Another interim answer, 102 or 103, for the client. The answer itself comes later. */
  interim(head: ResponseHead): void
  head(head: ResponseHead): void
  /** The body will take a while: send the head on. */
  flush(): void
  /**
   * A part of the body, in memory that is used again; what is before `start` may be written over. True when the bytes are done with, false when they are still
   * needed; nothing more comes then until `exchange.resume()`. `framing`: how many of them are none of the body, but its chunks' framing.
   */
  data(bytes: Buffer, start: number, end: number, framing?: number): boolean
  end(trailers: string): void
  fail(failure: Failure): void
}

export interface UpstreamRequest {
  /** Request line and headers with the empty line, in latin1. */
  head: string
  /** As much of the body as came with the head. */
  body: Buffer | null
  /** Whether that is all of it. */
  complete: boolean
  /** Whether it may be sent a second time: idempotent and without a body. */
  repeatable: boolean
  /** Whether the answer has no body (HEAD). */
  bodiless: boolean
  upgrade: boolean
}

/** The connection that a request is on. */
interface Carrier {
  readonly socket: Socket
  /** The request moves on: the time to answer begins anew. */
  extend(): void
}

interface Dispatcher {
  /** Onto the connection that was used last, else onto a new one. */
  dispatch(exchange: Exchange, reuse: boolean): void
}

/** One request and its answer, over as many connections as it takes. */
export class Exchange {
  connection: Carrier | null = null
  /** Of a connection that is tried again. */
  timer: Timer | undefined
  repeated = false
  /** Whether the whole request was written. */
  sent: boolean
  over = false
  /** Interim answers so far. */
  interim = 0
  readonly upstream: Dispatcher
  /** May change once the head of the answer is known. */
  sink: Sink
  readonly request: UpstreamRequest

  constructor(upstream: Dispatcher, sink: Sink, request: UpstreamRequest) {
    this.upstream = upstream
    this.sink = sink
    this.request = request
    this.sent = request.complete
  }

  start(): void {
    this.upstream.dispatch(this, true)
  }

  /** More of the request's body, framed as its head says. False: wait for `drained`. */
  write(bytes: Buffer | string): boolean {
    const connection = this.connection
    if (connection === null || this.over) return true
    connection.extend()
    return typeof bytes === 'string' ? connection.socket.write(bytes, 'latin1') : connection.socket.write(bytes)
  }

  finish(): void {
    this.sent = true
    this.connection?.extend()
  }

  /** Closes our half of a tunnel; the app may go on sending. */
  half(): void {
    this.connection?.socket.end()
  }

  /** The client can take more. */
  resume(): void {
    this.connection?.socket.resume()
  }

  /** The client is gone, or nobody wants the answer: the app is told by the end of its connection. */
  abort(): void {
    if (this.over) return
    this.over = true
    this.timer?.cancel()
    this.connection?.socket.destroy()
    this.connection = null
  }

  fail(failure: Failure): void {
    if (this.over) return
    this.over = true
    this.timer?.cancel()
    this.connection?.socket.destroy()
    this.connection = null
    this.sink.fail(failure)
  }
}
