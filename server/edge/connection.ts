import { connect, type Socket } from 'node:net'
import { broken, ChunkScanner, more } from './chunks.ts'
import type { Exchange } from './exchange.ts'
import { limits } from './limits.ts'
import { readResponseHead, type ResponseHead } from './response-head.ts'
import type { Sweep, Timed } from './sweep.ts'

export interface UpstreamOptions {
  connect_ms: number
  answer_ms: number
}

/** The instance that a connection belongs to. */
export interface Owner {
  address: { host: string; port: number }
  sweep: Sweep
  options: UpstreamOptions
  all: Set<Connection>
  /** Onto the connection that was used last, else onto a new one. */
  dispatch(exchange: Exchange, reuse: boolean): void
  keep(connection: Connection): void
  gone(connection: Connection): void
}

const idlePhase = 0
const headPhase = 1
const lengthPhase = 2
const chunkedPhase = 3
const closePhase = 4
const tunnelPhase = 5

const largeBuffers: Buffer[] = []
const newBuffer = (bytes: number): Buffer => Buffer.allocUnsafeSlow(limits.headroom_bytes + bytes)

/** A connection to an app: at most one request at a time. */
export class Connection implements Timed {
  deadline = 0
  exchange: Exchange | null = null
  refused: (() => void) | null
  readonly socket: Socket
  readonly #owner: Owner
  #phase = headPhase
  #left = 0
  #scanner: ChunkScanner | null = null
  #partial: Buffer | null = null
  #keep = true
  #keep_ms: number = limits.upstream_idle_ms
  #used = 0
  #reused = false
  #answered = false
  /** Whether the client still needs what is in the buffer. */
  #held = false
  #buffer: Buffer = newBuffer(limits.small_read_bytes)
  /** The small buffer, while a large one is in use. */
  #small: Buffer | null = null
  /** The same memory behind its headroom: where the next read goes. */
  #room: Buffer = this.#buffer.subarray(limits.headroom_bytes)

  constructor(owner: Owner) {
    this.#owner = owner
    this.refused = null
    owner.all.add(this)
    owner.sweep.add(this)
    this.socket = connect({
      host: owner.address.host,
      port: owner.address.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      allowHalfOpen: true,
      onread: { buffer: () => this.#room, callback: (count) => this.#read(count) },
    })
    this.socket.on('connect', () => {
      const exchange = this.exchange
      this.refused = null
      if (exchange) this.carry(exchange)
    })
    this.socket.on('drain', () => this.exchange?.sink.drained())
    this.socket.on('end', () => this.#ended())
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.#closed())
  }

  /** Whether it may carry a request, when it has to be used since `oldest`. */
  fit(oldest: number): boolean {
    return this.#used >= oldest && this.#used + this.#keep_ms > this.#owner.sweep.now && this.socket.writable && !this.socket.readableEnded
  }

  carry(exchange: Exchange): void {
    this.exchange = exchange
    exchange.connection = this
    this.#phase = headPhase
    this.#answered = false
    this.deadline = this.#owner.sweep.now + this.#owner.options.answer_ms
    const { head, body } = exchange.request
    if (body === null) this.socket.write(head, 'latin1')
    else {
      const bytes = Buffer.allocUnsafe(head.length + body.length)
      bytes.write(head, 0, 'latin1')
      body.copy(bytes, head.length)
      this.socket.write(bytes)
    }
    exchange.sink.ready()
  }

  /** The request moves on: the time to answer begins anew. */
  extend(): void {
    if (this.#phase === headPhase) this.deadline = this.#owner.sweep.now + this.#owner.options.answer_ms
  }

  expire(): void {
    if (this.refused) this.socket.destroy()
    else if (this.exchange) {
      // A client that is slow to send its body has another watch. This one is for an app that neither answers nor takes more.
      if (this.exchange.sent || this.socket.writableNeedDrain) this.exchange.fail('timeout')
      else this.extend()
    } else this.socket.destroy()
  }

  /** Returns false to stop reading until `resume`. */
  #read(count: number): boolean {
    this.#held = false
    const exchange = this.exchange
    if (exchange === null) {
      // Nobody asked: whatever this is, the next request must not get it.
      this.socket.destroy()
      return false
    }
    let bytes = this.#buffer
    let at: number = limits.headroom_bytes
    let end = at + count
    while (this.#phase === headPhase) {
      this.#answered = true
      if (this.#partial !== null) {
        bytes = Buffer.concat([this.#partial, bytes.subarray(at, end)])
        at = 0
        end = bytes.length
        this.#partial = null
      }
      const head = readResponseHead(bytes, at, end)
      if (head === undefined) {
        this.#partial = Buffer.from(bytes.subarray(at, end))
        return true
      }
      if (head === 'garbage') {
        exchange.fail('garbage')
        return false
      }
      at = head.body_start
      if (head.status >= 200 || (head.status === 101 && exchange.request.upgrade)) this.#begin(exchange, head)
      else if (head.status === 101) {
        exchange.fail('garbage')
        return false
      } else if (head.status === 100) exchange.sink.proceed()
      // Other codes are unknown, and none may bear a body (RFC 9110 §15.2 and §8.6): dropped.
      else if ((head.status === 102 || head.status === 103) && head.length < 0 && !head.chunked && exchange.interim++ < limits.interim_answers)
        exchange.sink.interim(head)
      if (exchange.over) return false
    }
    const more = this.#body(exchange, bytes, at, end)
    if (at === end && this.exchange === exchange) exchange.sink.flush()
    return more
  }

  #begin(exchange: Exchange, head: ResponseHead): void {
    this.deadline = 0
    this.#keep = head.keep
    // A second is for the way: the app may close just as we write.
    this.#keep_ms = head.keep_ms === 0 ? limits.upstream_idle_ms : Math.min(limits.upstream_idle_ms, head.keep_ms - 1000)
    if (head.status === 101) this.#phase = tunnelPhase
    else if (exchange.request.bodiless || head.status === 204 || head.status === 304) {
      this.#phase = lengthPhase
      this.#left = 0
    } else if (head.chunked) {
      this.#phase = chunkedPhase
      this.#scanner = new ChunkScanner()
    } else if (head.length >= 0) {
      this.#phase = lengthPhase
      this.#left = head.length
      if (head.length > limits.small_read_bytes) this.#grow()
    } else {
      this.#phase = closePhase
      this.#keep = false
    }
    exchange.sink.head(head)
  }

  #body(exchange: Exchange, bytes: Buffer, start: number, end: number): boolean {
    const sink = exchange.sink
    if (this.#phase === lengthPhase) {
      const stop = Math.min(end, start + this.#left)
      if (stop > start) {
        this.#left -= stop - start
        if (!sink.data(bytes, start, stop)) this.#held = true
      }
      if (exchange.over) return false
      if (this.#left === 0) this.#finish(exchange, stop < end)
      return !this.#held || this.exchange === null
    }
    if (this.#phase === chunkedPhase && this.#scanner) {
      const scanner = this.#scanner
      const before = scanner.body_bytes
      const stop = scanner.scan(bytes, start, end, sink.raw ? null : (from, to) => void (sink.data(bytes, from, to) || (this.#held = true)))
      if (stop === broken) {
        exchange.fail('cut')
        return false
      }
      const upTo = stop === more ? end : stop
      if (sink.raw && upTo > start && !sink.data(bytes, start, upTo, upTo - start - (scanner.body_bytes - before))) this.#held = true
      if (exchange.over) return false
      if (stop !== more) this.#finish(exchange, stop < end)
      else if (end - start === limits.small_read_bytes && !this.#held) this.#grow()
      return !this.#held || this.exchange === null
    }
    if (end > start && !sink.data(bytes, start, end)) this.#held = true
    return !this.#held
  }

  /** The answer is complete; `surplus` when more than that came. */
  #finish(exchange: Exchange, surplus: boolean): void {
    const trailers = this.#scanner?.trailers ?? ''
    this.#scanner = null
    this.#shrink()
    exchange.over = true
    exchange.connection = null
    this.exchange = null
    this.#phase = idlePhase
    this.#used = this.#owner.sweep.now
    this.#reused = true
    if (surplus || !this.#keep || !exchange.sent) this.socket.destroy()
    else {
      this.deadline = this.#used + limits.upstream_idle_ms
      this.#owner.keep(this)
    }
    exchange.sink.end(trailers)
  }

  #ended(): void {
    const exchange = this.exchange
    if (this.#phase === tunnelPhase && exchange) return exchange.sink.end('')
    if (this.#phase === closePhase && exchange) this.#finish(exchange, true)
    this.socket.destroy()
  }

  #closed(): void {
    this.#owner.gone(this)
    if (this.refused) return this.refused()
    const exchange = this.exchange
    this.exchange = null
    if (exchange === null || exchange.over) return
    exchange.connection = null
    if (this.#phase !== headPhase) return exchange.fail('cut')
    // It had closed its idle connection just as we wrote on it.
    if (this.#reused && !this.#answered && !exchange.repeated && exchange.request.repeatable) {
      exchange.repeated = true
      return this.#owner.dispatch(exchange, false)
    }
    exchange.fail('closed')
  }

  #grow(): void {
    if (this.#room.length >= limits.large_read_bytes) return
    this.#small = this.#buffer
    this.#take(largeBuffers.pop() ?? newBuffer(limits.large_read_bytes))
  }

  #shrink(): void {
    const large = this.#room.length === limits.large_read_bytes
    if (!large && !this.#held) return
    // A buffer that the client still reads from is left to it.
    if (large && !this.#held && largeBuffers.length < 16) largeBuffers.push(this.#buffer)
    this.#take(this.#small ?? newBuffer(limits.small_read_bytes))
    this.#small = null
  }

  #take(buffer: Buffer): void {
    this.#buffer = buffer
    this.#room = buffer.subarray(limits.headroom_bytes)
  }
}
