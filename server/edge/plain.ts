import type { Socket } from 'node:net'
import type { Answer, Visit } from './answer.ts'
import type { HostCache } from './cache/host.ts'
import type { CacheVisit, Pending } from './cache/reader.ts'
import { valueOf, valuesOf } from './cache/fields.ts'
import { elsewhere, hidesHsts, withoutHsts } from './elsewhere.ts'
import { forwardedLines, isEncrypted, isLoopback } from './forward.ts'
import { BodyGuard, settle, type Gate } from './gate.ts'
import { limits } from './limits.ts'
import { Tally, type CacheWord } from './meter.ts'
import { failurePage, pageAnswer, refusalAnswer, routePage, type PageName } from './pages.ts'
import { PlainAnswer } from './plain-answer.ts'
import { readPlainHead, unreadHead, type PlainHead } from './plain-head.ts'
import type { ResponseHead } from './response-head.ts'
import { hostName } from './host.ts'
import type { Instance } from './router.ts'
import type { Timed } from './sweep.ts'
import type { Exchange, Failure, UpstreamRequest } from './exchange.ts'

/**
 * The path of perfectly plain requests: head read on the socket, passed on as it came. At the first doubt the connection,
 * with the bytes of the doubtful request, goes to Node's own parser by `handOver`, for good.
 */
export function servePlain(gate: Gate, socket: Socket, handOver: (socket: Socket) => void): void {
  new PlainConnection(gate, socket, handOver).open()
}

/** A client's connection. It is all there is per request too: nothing is made anew for the next one. */
class PlainConnection implements Visit, CacheVisit, Timed {
  readonly raw = true
  id = ''
  method = ''
  target = ''
  host = ''
  readonly loopback: boolean
  deadline: number
  readonly #gate: Gate
  readonly #socket: Socket
  readonly #handOver: (socket: Socket) => void
  /** What came and is not yet used. */
  #ahead: Buffer | null = null
  #busy = false
  #ended = false
  #closing = false
  #request: PlainHead | undefined
  #bodyLeft = 0
  #guard: BodyGuard | undefined
  #exchange: Exchange | Pending | undefined
  /** What of the request's body came with its head. */
  #early: Buffer | null = null
  #instance: Instance | undefined
  readonly #tally: Tally
  readonly #answer: PlainAnswer
  #stopWaiting: (() => void) | undefined
  #written = 0
  /** Host and what we say about the client, which seldom change on a connection. */
  #lastHost = ''
  #forwarded = ''
  #lastInstance: Instance | undefined
  #cache: HostCache | null = null
  readonly #cut = (): void => void this.#socket.destroy()

  constructor(gate: Gate, socket: Socket, handOver: (socket: Socket) => void) {
    this.#gate = gate
    this.#tally = new Tally(gate.meter)
    this.#socket = socket
    this.#answer = new PlainAnswer(gate, socket, this.#tally, () => this.#exchange?.resume())
    this.#handOver = handOver
    this.loopback = isLoopback(socket.remoteAddress ?? '')
    this.deadline = gate.sweep.now + limits.client_idle_ms
  }

  open(): void {
    this.#gate.sweep.add(this)
    this.#gate.plain.add(this)
    this.#socket.on('data', this.#data).on('end', this.#end).on('error', this.#error).on('close', this.#close)
  }

  /** The edge closes: after what is under way, or now. */
  retire(): void {
    if (!this.#busy) this.#socket.destroy()
    else if (this.#request) this.#request.close = true
  }

  readonly #data = (bytes: Buffer): void => {
    if (this.#closing) return
    if (this.#bodyLeft > 0 && this.#guard) return this.#body(bytes)
    if (!this.#busy) return this.#read(bytes)
    this.#ahead = this.#ahead === null ? bytes : Buffer.concat([this.#ahead, bytes])
    if (this.#ahead.length > limits.ahead_bytes) this.#socket.pause()
  }

  #read(arrived: Buffer): void {
    const bytes = this.#ahead === null ? arrived : Buffer.concat([this.#ahead, arrived])
    this.#ahead = null
    const request = readPlainHead(bytes, bytes.length)
    if (request === undefined && bytes.length <= limits.head_bytes) {
      if (this.#request !== undefined || this.deadline > this.#gate.sweep.now + this.#gate.head_ms)
        this.deadline = this.#gate.sweep.now + this.#gate.head_ms
      this.#request = undefined
      this.#ahead = bytes
      return
    }
    if (request === undefined || request === 'odd' || request.body_start > limits.head_bytes) return this.#leave(bytes)
    this.#serve(request, bytes)
  }

  /** Gives the connection away. */
  #leave(bytes: Buffer): void {
    const socket = this.#socket
    // After FIN nothing can be put back for Node to read: an odd request behind a plain one is dropped with its connection.
    if (this.#ended) return void socket.destroy()
    socket.off('data', this.#data).off('end', this.#end).off('error', this.#error).off('close', this.#close)
    this.#gate.sweep.delete(this)
    this.#gate.plain.delete(this)
    socket.pause()
    socket.unshift(bytes)
    this.#handOver(socket)
    socket.resume()
  }

  #serve(request: PlainHead, bytes: Buffer): void {
    this.#busy = true
    this.deadline = 0
    this.#request = request
    this.#answer.reset()
    this.#tally.begin()
    this.id = this.#gate.newId()
    this.method = request.method
    this.target = request.target
    const host = hostName(request.host)
    const bodyEnd = Math.min(bytes.length, request.body_start + request.body_length)
    this.#bodyLeft = request.body_length - (bodyEnd - request.body_start)
    this.#ahead = bodyEnd < bytes.length ? bytes.subarray(bodyEnd) : null
    if (this.#bodyLeft > 0) this.#socket.pause()
    if (host === undefined) return this.send(refusalAnswer(400, 'The Host header is no host name.', this), true)
    this.host = host
    const body = bodyEnd > request.body_start ? bytes.subarray(request.body_start, bodyEnd) : null
    const other = elsewhere(this.#gate, this.#socket, this)
    if (other !== undefined) return this.#sendAway(other)
    const found = this.#gate.router.find(host)
    if (found?.upstream) this.#forward(found, request, body)
    else this.#stopWaiting = settle(this.#gate, host, (instance) => this.#go(instance, request, body))
  }

  #sendAway(answer: Answer): void {
    this.#instance = this.#gate.router.find(this.host)
    this.#instance?.enter(this.#cut)
    if (this.#instance) this.#tally.of(this.#instance.meter, null)
    this.send(answer)
  }

  #go(instance: Instance | undefined, request: PlainHead, body: Buffer | null): void {
    if (instance === undefined) return this.#page('unknown_host')
    if (instance.upstream) return this.#forward(instance, request, body)
    this.#instance = instance
    instance.enter(this.#cut)
    this.#tally.of(instance.meter, instance.site ? 'hit' : null)
    if (instance.site) this.#later(instance.site.answer(this))
    else this.#page(routePage(instance.route))
  }

  #later(answer: Answer | Promise<Answer>): void {
    if (answer instanceof Promise) void answer.then((ready) => this.send(ready))
    else this.send(answer)
  }

  #forward(instance: Instance, request: PlainHead, body: Buffer | null): void {
    if (instance.upstream === null) return
    this.#instance = instance
    instance.enter(this.#cut)
    this.#tally.of(instance.meter, 'bypass')
    if (this.#lastHost !== request.host || this.#lastInstance !== instance) {
      this.#lastHost = request.host
      this.#lastInstance = instance
      this.#forwarded = forwardedLines(this.#socket, request.host)
      this.#cache = instance.cache === null ? null : instance.cache(isEncrypted(this.#socket), request.host)
    }
    this.#early = body
    const cache = this.#cache
    if (cache === null) {
      const exchange = instance.upstream.ask(this, this.question())
      this.#exchange = exchange
      return exchange.start()
    }
    if (request.simple && !request.close && !hidesHsts(this.#socket, this.host)) {
      const now = this.#gate.clock.now()
      const entry = cache.quick(request.target, now)
      if (entry !== null) {
        this.#answer.stored(entry, this.id, now)
        return this.#next()
      }
    }
    const reader = cache.reader(this, instance.upstream)
    this.#exchange = reader
    reader.start()
  }

  question(): UpstreamRequest {
    const { method } = this
    const hasBody = this.hasBody()
    return {
      head: `${this.#request?.lines}${this.#forwarded}${this.id}\r\n\r\n`,
      body: this.#early,
      complete: this.#bodyLeft === 0,
      repeatable: !hasBody && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS'),
      bodiless: method === 'HEAD',
      upgrade: false,
    }
  }

  hasBody(): boolean {
    return (this.#request?.body_length ?? 0) > 0
  }

  header(name: string): string | undefined {
    return valueOf(this.#request?.lines ?? '', name)
  }

  fields(name: string): string | undefined {
    const values = valuesOf(this.#request?.lines ?? '', name)
    return values.length > 1 ? values.join(', ') : values[0]
  }

  cached(word: CacheWord): void {
    this.#tally.cached(word)
  }

  ready(): void {
    if (this.#bodyLeft === 0) return
    this.#guard ??= new BodyGuard(this.#gate, () => this.#tooSlow())
    this.#socket.resume()
  }

  #body(arrived: Buffer): void {
    let bytes = arrived
    if (bytes.length > this.#bodyLeft) {
      this.#ahead = bytes.subarray(this.#bodyLeft)
      bytes = bytes.subarray(0, this.#bodyLeft)
    }
    this.#bodyLeft -= bytes.length
    if (this.#guard) this.#guard.bytes += bytes.length
    const more = this.#exchange?.write(bytes) ?? true
    if (this.#bodyLeft === 0) {
      this.#guard?.stop()
      this.#guard = undefined
      this.#exchange?.finish()
    } else if (!more) {
      if (this.#guard) this.#guard.excused = true
      this.#socket.pause()
    }
  }

  drained(): void {
    if (this.#guard === undefined) return
    this.#guard.excused = this.#answer.begun
    this.#socket.resume()
  }

  #tooSlow(): void {
    this.#guard = undefined
    this.#exchange?.abort()
    this.#exchange = undefined
    if (this.#answer.begun) this.#cut()
    else this.send(refusalAnswer(408, 'The body of the request came too slowly.', this), true)
  }

  proceed(): void {}

  interim(head: ResponseHead): void {
    this.#socket.write(`HTTP/1.1 ${head.status} ${head.reason}\r\n${withoutHsts(this.#socket, this.host, head.lines)}\r\n`, 'latin1')
  }

  head(head: ResponseHead): void {
    if (this.#guard) this.#guard.excused = true
    this.#answer.head(head, this, this.#request?.close === true)
  }

  flush(): void {
    this.#answer.flush()
  }

  data(bytes: Buffer, start: number, end: number, framing = 0): boolean {
    return this.#answer.data(bytes, start, end, framing)
  }

  end(): void {
    this.#exchange = undefined
    this.#answer.end()
    this.#next()
  }

  fail(failure: Failure): void {
    const body = this.#early
    this.#exchange = undefined
    if (this.#answer.begun) return this.#cut()
    this.#answer.reset()
    const request = this.#request
    const instance = this.#gate.router.find(this.host)
    // Refused means that nothing was sent: whatever serves the name now gets the request, body and all.
    if ((failure === 'refused' || failure === 'moved') && instance !== this.#instance && request) {
      this.#instance?.leave(this.#cut)
      this.#instance = undefined
      this.#stopWaiting = settle(this.#gate, this.host, (now) => this.#go(now, request, body))
      return
    }
    this.#gate.log.warn('edge.upstream_failed', { request_id: this.id, host: this.host, failure })
    this.#page(failurePage(failure, this.#instance?.route))
  }

  #page(name: PageName): void {
    this.send(pageAnswer(name, this, this.#instance?.route))
  }

  /** An answer that is there as a whole: a page of ours, a file, or what is stored. */
  send(answer: Answer, close = false): void {
    if (this.#socket.destroyed || !this.#busy) {
      if (answer.body !== null && !Buffer.isBuffer(answer.body)) answer.body.close()
      return
    }
    const request = this.#request
    if (close && request) request.close = true
    const later = this.#answer.send(answer, this, request?.close === true || this.#bodyLeft > 0)
    if (later === undefined) this.#next()
    else void later.then((whole) => (whole ? this.#next() : this.#cut()))
  }

  /** The answer is out. */
  #next(): void {
    this.#instance?.leave(this.#cut)
    this.#instance = undefined
    this.#busy = false
    if (this.#request?.close || this.#bodyLeft > 0) return this.#hangUp()
    const ahead = this.#ahead
    this.deadline = this.#gate.sweep.now + limits.client_idle_ms
    if (ahead !== null) {
      this.#ahead = null
      this.#socket.resume()
      // Not from within: a thousand pipelined requests must not be a thousand frames deep.
      queueMicrotask(() => this.#data(ahead))
      return
    }
    if (this.#ended) this.#socket.end()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  /** Closes after the last answer; what the client still sends is read and dropped, so that no reset overtakes the answer. */
  #hangUp(): void {
    this.#guard?.stop()
    this.#closing = true
    this.#ahead = null
    this.#socket.end()
    this.#socket.resume()
    this.deadline = this.#gate.sweep.now + limits.linger_ms
  }

  expire(): void {
    const socket = this.#socket
    if (this.#closing || (!this.#busy && this.#ahead === null)) return void socket.destroy()
    if (!this.#busy) {
      this.#busy = true
      this.id = this.#gate.newId()
      this.method = 'GET'
      this.#request = unreadHead(this.#ahead)
      return this.send(refusalAnswer(408, 'The head of the request did not arrive in time.', this), true)
    }
    // The client has sent FIN. If it still takes bytes it only closed its half; if nothing moves it is gone.
    if (this.#written === socket.bytesWritten) return void socket.destroy()
    this.#written = socket.bytesWritten
    this.deadline = this.#gate.sweep.now + limits.half_closed_ms
  }

  readonly #end = (): void => {
    this.#ended = true
    if (this.#closing) return
    if (this.#bodyLeft > 0) return void this.#socket.destroy()
    if (!this.#busy) return void this.#socket.end()
    this.#written = this.#socket.bytesWritten
    this.deadline = this.#gate.sweep.now + limits.half_closed_ms
  }

  readonly #error = (): void => {}

  readonly #close = (): void => {
    this.#gate.sweep.delete(this)
    this.#gate.plain.delete(this)
    this.#guard?.stop()
    this.#stopWaiting?.()
    this.#exchange?.abort()
    this.#exchange = undefined
    this.#tally.gone()
    this.#instance?.leave(this.#cut)
    this.#instance = undefined
  }
}
