import type { Server } from 'node:http'
import { headerGroups, headerList, type Answer, type Visit } from './answer.ts'
import type { Answering, Asked, Wire } from './asked.ts'
import { elsewhere, withoutHsts } from './elsewhere.ts'
import type { HostCache } from './cache/host.ts'
import type { CacheVisit, Pending } from './cache/reader.ts'
import { forwardedLines, isEncrypted, isLoopback, passes } from './forward.ts'
import { BodyGuard, settle, type Gate } from './gate.ts'
import { limits } from './limits.ts'
import { isLook } from './look.ts'
import { Tally, type CacheWord } from './meter.ts'
import { failurePage, pageAnswer, refusalAnswer, routePage, type PageName } from './pages.ts'
import type { ResponseHead } from './response-head.ts'
import { hostName } from './host.ts'
import { nameOf } from './network.ts'
import type { Instance } from './router.ts'
import { sendSlice } from './slice.ts'
import type { Exchange, Failure, UpstreamRequest } from './exchange.ts'

export interface Refusal {
  status: number
  sentence: string
}

/** The path of every request that is not perfectly plain: read by Node's own HTTP parser, then checked here. */
export function serveOrdinary(gate: Gate, server: Server): void {
  server.on('request', (request, response) => serveRequest(gate, request, response, 'nothing'))
  server.on('checkContinue', (request, response) => serveRequest(gate, request, response, 'continue'))
  server.on('checkExpectation', (request, response) => serveRequest(gate, request, response, 'more'))
}

/** Serves one request; `expects` is what it says with `Expect`. */
export function serveRequest(gate: Gate, request: Asked, response: Answering, expects: 'nothing' | 'continue' | 'more'): void {
  const visit = new OrdinaryVisit(gate, request, response, expects === 'continue')
  if (expects === 'more') visit.send(refusalAnswer(417, 'The only expectation that can be met here is 100-continue.', visit))
  else visit.serve()
}

/** Why a request is not passed on, or `undefined`. Node's parser has refused what is wrong in its form; this is about doubt. */
export function refusal(request: Asked): Refusal | undefined {
  const raw = request.rawHeaders
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') return { status: 400, sentence: 'Only HTTP/1.1 and HTTP/1.0 are spoken here.' }
  if (raw.length > limits.header_count * 2)
    return { status: 431, sentence: `A request may have ${limits.header_count} headers, this one has ${raw.length / 2}.` }
  let hosts = 0
  let codings = 0
  let lengths = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase()
    if (name === 'host') hosts++
    else if (name === 'transfer-encoding') codings += raw[i + 1]?.toLowerCase() === 'chunked' ? 1 : 2
    else if (name === 'content-length') lengths++
  }
  if (hosts !== 1) return { status: 400, sentence: `A request needs exactly one Host header, this one has ${hosts}.` }
  if (codings > 1 || (codings === 1 && request.httpVersion === '1.0'))
    return { status: 400, sentence: 'The only transfer coding that is taken is chunked, once, in HTTP/1.1.' }
  if (lengths > 1 || (lengths === 1 && codings === 1)) return { status: 400, sentence: 'The length of the body is given in two ways.' }
  if (!/^\/[!-~]*$/.test(request.url ?? '') || request.url?.includes('#'))
    return { status: 400, sentence: 'The address of a request begins with a slash and has no spaces or signs outside of ASCII in it.' }
  if (request.method === 'TRACE' || request.method === 'CONNECT') return { status: 405, sentence: `${request.method} is not taken here.` }
  if (hostName(request.headers.host ?? '') === undefined) return { status: 400, sentence: 'The Host header is no host name.' }
  return undefined
}

/** The head of a request as it goes to the app. `lines` are what its body or upgrade needs. */
export function upstreamHead(request: Asked, id: string, lines: string): string {
  const raw = request.rawHeaders
  const named = new Set(
    (request.headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  // Framing and Host are never headers of one hop, whatever Connection says.
  for (const name of ['host', 'content-length']) named.delete(name)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  let head = `${request.method} ${request.url} HTTP/1.1\r\n`
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase() ?? ''
    if (passes(name, isRead) && !named.has(name)) head += `${raw[i]}: ${raw[i + 1]}\r\n`
  }
  return `${head}${lines}${forwardedLines(request.socket, request.headers.host ?? '')}${id}\r\n\r\n`
}

const refused = new WeakSet<Wire>()
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])

/** One request on the ordinary path. */
class OrdinaryVisit implements Visit, CacheVisit {
  readonly raw = false
  readonly id: string
  readonly method: string
  readonly target: string
  readonly host: string
  readonly loopback: boolean
  readonly #gate: Gate
  readonly #request: Asked
  readonly #response: Answering
  readonly #chunked: boolean
  readonly #hasBody: boolean
  /** Waiting for the app's word on `Expect: 100-continue`. */
  #asking: boolean
  #exchange: Exchange | Pending | undefined
  #instance: Instance | undefined
  #guard: BodyGuard | undefined
  #piping = false
  readonly #quiet: boolean
  readonly #tally: Tally
  #stopWaiting = (): void => {}
  readonly #cut = (): void => void this.#request.socket.destroy()

  constructor(gate: Gate, request: Asked, response: Answering, asking: boolean) {
    this.id = gate.newId()
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.host = nameOf(gate, request)
    this.loopback = isLoopback(request.socket.remoteAddress ?? '')
    this.#gate = gate
    this.#tally = new Tally(gate.meter)
    this.#tally.begin()
    this.#request = request
    this.#response = response
    this.#asking = asking
    this.#quiet = isLook(gate, request)
    this.#chunked = request.headers['transfer-encoding'] !== undefined
    this.#hasBody = this.#chunked || (request.headers['content-length'] ?? '0') !== '0'
    request.on('error', () => {})
    response.on('error', () => {})
    response.on('close', () => this.#closed())
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  serve(): void {
    // What follows a refused request on its connection may be the rest of it, meant to look like a request.
    const socket = this.#request.socket
    if (refused.has(socket)) return
    const under_way = this.#gate.under_way.get(socket) ?? { requests: new Set(), answered: undefined }
    this.#gate.under_way.set(socket, under_way)
    under_way.requests.add(this)
    this.#response.on('close', () => {
      under_way.requests.delete(this)
      if (under_way.requests.size === 0) under_way.answered?.()
    })
    // Node reads ahead of its answers; each request ahead is one to the app at the same time.
    if (under_way.requests.size > limits.pipelined) return this.#cut()
    const no = refusal(this.#request)
    if (no) {
      refused.add(socket)
      return this.send(refusalAnswer(no.status, no.sentence, this), true)
    }
    const other = this.#quiet ? undefined : elsewhere(this.#gate, socket, this)
    if (other) this.#sendAway(other)
    else this.#dispatch()
  }

  #sendAway(answer: Answer): void {
    this.#instance = this.#gate.router.find(this.host)
    this.#instance?.enter(this.#cut)
    if (this.#instance) this.#tally.of(this.#instance.meter, null)
    this.send(answer)
  }

  #dispatch(): void {
    this.#stopWaiting = settle(this.#gate, this.host, (instance) => {
      if (instance === undefined) return this.#page('unknown_host')
      this.#instance = instance
      instance.enter(this.#cut, this.#quiet)
      if (!this.#quiet) this.#tally.of(instance.meter, instance.site ? 'hit' : instance.upstream ? 'bypass' : null)
      if (instance.site) this.#later(instance.site.answer(this))
      else if (instance.upstream)
        this.#forward(instance.upstream, instance.cache?.(isEncrypted(this.#request.socket), this.#request.headers.host ?? ''))
      else this.#page(routePage(instance.route))
    })
  }

  #later(answer: Answer | Promise<Answer>): void {
    if (answer instanceof Promise) void answer.then((ready) => this.send(ready))
    else this.send(answer)
  }

  #forward(upstream: NonNullable<Instance['upstream']>, cache: HostCache | undefined): void {
    const asked = cache ? cache.reader(this, upstream) : upstream.ask(this, this.question())
    this.#exchange = asked
    asked.start()
  }

  question(): UpstreamRequest {
    const lines = (this.#chunked ? 'Transfer-Encoding: chunked\r\n' : '') + (this.#asking ? 'Expect: 100-continue\r\n' : '')
    return {
      head: upstreamHead(this.#request, this.id, lines),
      body: null,
      complete: !this.#hasBody,
      repeatable: !this.#hasBody && repeatable.has(this.method),
      bodiless: this.method === 'HEAD',
      upgrade: false,
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

  cached(word: CacheWord): void {
    this.#tally.cached(word)
  }

  /** An answer of our own. */
  send(answer: Answer, close = false): void {
    const response = this.#response
    if (response.headersSent || response.destroyed) {
      if (answer.body && !Buffer.isBuffer(answer.body)) answer.body.close()
      return
    }
    const list = headerList(withoutHsts(this.#request.socket, this.host, answer.lines))
    list.push('X-Request-Id', this.id)
    if (answer.length >= 0) list.push('Content-Length', String(answer.length))
    if (close || this.#asking) list.push('Connection', 'close')
    response.writeHead(answer.status, list)
    this.#tally.answered(answer.status)
    this.#discard()
    if (answer.body === null || this.method === 'HEAD') {
      if (answer.body && !Buffer.isBuffer(answer.body)) answer.body.close()
      response.end()
    } else if (Buffer.isBuffer(answer.body)) {
      this.#tally.sent(answer.body.length)
      response.end(answer.body)
    } else void sendSlice(answer.body, response, (bytes) => this.#tally.sent(bytes)).then((whole) => (whole ? response.end() : this.#cut()))
  }

  #page(name: PageName): void {
    this.send(pageAnswer(name, this, this.#instance?.route))
  }

  /** What is left of a request that was answered without it: read and dropped for a moment, so that the answer is not lost in a reset. */
  #discard(): void {
    const request = this.#request
    this.#guard?.stop()
    if (request.complete || this.#asking) return
    request.removeAllListeners('data')
    request.resume()
    const timed = { deadline: this.#gate.sweep.now + limits.linger_ms, expire: () => void (request.complete || this.#cut()) }
    this.#gate.sweep.add(timed)
    request.once('close', () => this.#gate.sweep.delete(timed))
  }

  ready(): void {
    if (!this.#hasBody || !this.#exchange) return
    if (this.#asking) {
      const exchange = this.#exchange
      const timed = { deadline: this.#gate.sweep.now + limits.continue_ms, expire: () => void (this.#exchange === exchange && this.proceed()) }
      this.#gate.sweep.add(timed)
      this.#response.once('close', () => this.#gate.sweep.delete(timed))
      return
    }
    this.#pipe(this.#exchange)
  }

  proceed(): void {
    if (!this.#asking || !this.#exchange || this.#response.headersSent) return
    this.#asking = false
    this.#response.writeContinue()
    this.#pipe(this.#exchange)
  }

  interim(head: ResponseHead): void {
    const response = this.#response
    if (this.#request.httpVersion !== '1.1' || response.headersSent || response.destroyed) return
    if (head.status === 102) return response.writeProcessing()
    try {
      response.writeEarlyHints(headerGroups(withoutHsts(this.#request.socket, this.host, head.lines)))
    } catch {
      // Node takes no Link that it does not understand. The answer itself bears it as well.
    }
  }

  #pipe(exchange: Exchange | Pending): void {
    const request = this.#request
    const guard = new BodyGuard(this.#gate, () => this.#tooSlow())
    this.#guard = guard
    this.#piping = true
    request.on('data', (bytes: Buffer) => {
      guard.bytes += bytes.length
      const more = this.#chunked
        ? [exchange.write(`${bytes.length.toString(16)}\r\n`), exchange.write(bytes), exchange.write('\r\n')].every(Boolean)
        : exchange.write(bytes)
      if (!more) {
        guard.excused = true
        request.pause()
      }
    })
    request.on('end', () => {
      guard.stop()
      if (this.#chunked) exchange.write(`0\r\n${this.#trailers()}\r\n`)
      exchange.finish()
    })
  }

  #trailers(): string {
    const raw = this.#request.rawTrailers
    let lines = ''
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]?.toLowerCase() ?? ''
      if (passes(name, true) && !/^(?:content-|host$|authorization$|cookie$)/.test(name)) lines += `${raw[i]}: ${raw[i + 1]}\r\n`
    }
    return lines
  }

  #tooSlow(): void {
    this.refuse(408, 'The body of the request came too slowly.')
  }

  get isComplete(): boolean {
    return this.#request.complete
  }

  refuse(status: number, sentence: string): void {
    const { socket } = this.#request
    // What comes after it is refused by the parser too, while the answer goes out.
    if (refused.has(socket)) return
    refused.add(socket)
    this.#stopWaiting()
    this.#exchange?.abort()
    if (this.#response.headersSent) this.#cut()
    else this.send(refusalAnswer(status, sentence, this), true)
  }

  drained(): void {
    if (this.#guard) this.#guard.excused = false
    if (this.#piping) this.#request.resume()
  }

  head(head: ResponseHead): void {
    if (this.#guard) this.#guard.excused = true
    const list = headerList(withoutHsts(this.#request.socket, this.host, head.lines))
    list.push('X-Request-Id', this.id)
    if (this.#asking) list.push('Connection', 'close')
    this.#response.writeHead(head.status, head.reason, list)
    this.#tally.answered(head.status)
  }

  flush(): void {
    // An event stream may be silent for long after its head.
    this.#response.flushHeaders()
  }

  data(bytes: Buffer, start: number, end: number): boolean {
    this.#tally.sent(end - start)
    // Node keeps what it is given until the end of the tick, and the memory is used again: a copy.
    if (this.#response.write(Buffer.from(bytes.subarray(start, end)))) return true
    this.#response.once('drain', () => this.#exchange?.resume())
    return false
  }

  end(trailers: string): void {
    this.#exchange = undefined
    if (trailers !== '') {
      const list = headerList(trailers)
      const pairs: [string, string][] = []
      for (let i = 0; i < list.length; i += 2) pairs.push([list[i] ?? '', list[i + 1] ?? ''])
      this.#response.addTrailers(pairs)
    }
    this.#discard()
    this.#response.end()
  }

  fail(failure: Failure): void {
    this.#exchange = undefined
    if (this.#response.headersSent) return this.#cut()
    const replaced = this.#gate.router.find(this.host) !== this.#instance
    if ((failure === 'refused' || failure === 'moved') && replaced) {
      this.#instance?.leave(this.#cut, this.#quiet)
      this.#instance = undefined
      return this.#dispatch()
    }
    this.#gate.log.warn('edge.upstream_failed', { request_id: this.id, host: this.host, failure })
    this.#page(failurePage(failure, this.#instance?.route))
  }

  #closed(): void {
    this.#stopWaiting()
    this.#guard?.stop()
    this.#exchange?.abort()
    this.#exchange = undefined
    this.#tally.gone()
    this.#instance?.leave(this.#cut, this.#quiet)
    this.#instance = undefined
  }
}
