import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { answerHead, headerList, type Answer, type Visit } from './answer.ts'
import { elsewhere } from './elsewhere.ts'
import { isLoopback } from './forward.ts'
import { settle, type Gate } from './gate.ts'
import { limits } from './limits.ts'
import { isLook } from './look.ts'
import { Tally } from './meter.ts'
import { refusal, upstreamHead } from './ordinary.ts'
import { failurePage, pageAnswer, refusalAnswer, routePage, type PageName } from './pages.ts'
import type { ResponseHead } from './response-head.ts'
import { nameOf } from './network.ts'
import type { Instance } from './router.ts'
import type { Timed } from './sweep.ts'
import type { Exchange, Failure, Sink } from './exchange.ts'

/** Whether a request asks for the one upgrade that goes through: a WebSocket. Any other (h2c) is served without it. */
export const wantsWebSocket = (request: IncomingMessage): boolean =>
  request.method === 'GET' &&
  request.headers.upgrade?.toLowerCase() === 'websocket' &&
  request.headers['transfer-encoding'] === undefined &&
  (request.headers['content-length'] ?? '0') === '0'

/** WebSockets: once the app has agreed, bytes both ways, untouched. */
export function serveTunnels(gate: Gate, server: Server): void {
  server.on('upgrade', (request, socket, head) => new Tunnel(gate, request, socket as Socket, head).serve())
}

class Tunnel implements Visit, Sink, Timed {
  readonly raw = true
  readonly id: string
  readonly method: string
  readonly target: string
  readonly host: string
  readonly loopback: boolean
  deadline = 0
  readonly #gate: Gate
  readonly #request: IncomingMessage
  readonly #socket: Socket
  readonly #early: Buffer
  readonly #tally: Tally
  readonly #quiet: boolean
  #exchange: Exchange | undefined
  #instance: Instance | undefined
  #open = false
  #answered = false
  #rechunk = false
  #stopWaiting = (): void => {}
  readonly #cut = (): void => void this.#socket.destroy()

  constructor(gate: Gate, request: IncomingMessage, socket: Socket, early: Buffer) {
    this.id = gate.newId()
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.host = nameOf(gate, request)
    this.loopback = isLoopback(socket.remoteAddress ?? '')
    this.#gate = gate
    this.#tally = new Tally(gate.meter)
    this.#tally.begin()
    this.#request = request
    this.#quiet = isLook(gate, request)
    this.#socket = socket
    this.#early = early
    gate.sweep.add(this)
    socket.setNoDelay(true)
    socket.setTimeout(0)
    socket.on('error', () => {})
    socket.on('close', () => this.#closed())
    socket.on('end', () => this.#clientEnded())
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  serve(): void {
    // A Node older than `shouldUpgradeCallback` (24.9) brings every upgrade here; only a WebSocket may get a tunnel.
    const other = { status: 400, sentence: 'The only upgrade that is taken is to a WebSocket.' }
    const no = refusal(this.#request) ?? (wantsWebSocket(this.#request) ? undefined : other)
    if (no) return this.#send(refusalAnswer(no.status, no.sentence, this))
    const away = this.#quiet ? undefined : elsewhere(this.#gate, this.#socket, this)
    if (away) return this.#send(away)
    this.#dispatch()
  }

  #dispatch(): void {
    this.#stopWaiting = settle(this.#gate, this.host, (instance) => {
      if (instance === undefined) return this.#page('unknown_host')
      this.#instance = instance
      instance.enter(this.#cut, this.#quiet)
      if (!this.#quiet) this.#tally.of(instance.meter, instance.upstream ? 'bypass' : null)
      if (instance.site) return this.#send(refusalAnswer(400, 'A static site has no WebSocket.', this))
      if (!instance.upstream) return this.#page(routePage(instance.route))
      this.#exchange = instance.upstream.ask(this, {
        head: upstreamHead(this.#request, this.id, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
        body: null,
        complete: true,
        repeatable: true,
        bodiless: false,
        upgrade: true,
      })
      this.#exchange.start()
    })
  }

  #send(answer: Answer): void {
    if (answer.body && !Buffer.isBuffer(answer.body)) answer.body.close()
    if (this.#answered || this.#socket.destroyed) return
    this.#answered = true
    this.#tally.answered(answer.status)
    const body = Buffer.isBuffer(answer.body) ? answer.body : Buffer.alloc(0)
    this.#tally.sent(body.length)
    const sent = answer.length < 0 ? answer : { ...answer, length: body.length }
    this.#socket.write(Buffer.concat([Buffer.from(`${answerHead(sent, this.id, this.#gate.dateLine())}Connection: close\r\n\r\n`, 'latin1'), body]))
    this.#hangUp()
  }

  #page(name: PageName): void {
    this.#send(pageAnswer(name, this, this.#instance?.route))
  }

  /** The client reads our last byte and closes; if it does not, we do. */
  #hangUp(): void {
    this.#socket.end()
    this.#socket.resume()
    this.deadline = this.#gate.sweep.now + limits.linger_ms
  }

  expire(): void {
    this.#socket.destroy()
  }

  ready(): void {}

  drained(): void {
    this.#socket.resume()
  }

  proceed(): void {}

  interim(): void {}

  flush(): void {}

  head(head: ResponseHead): void {
    this.#answered = true
    this.#tally.answered(head.status)
    const start = `HTTP/1.1 ${head.status} ${head.reason}\r\n${head.lines}`
    if (head.status === 101) {
      this.#open = true
      this.#socket.write(
        `${start}Connection: Upgrade\r\nUpgrade: ${headerList(`u: ${head.upgrade}`)[1] ?? 'websocket'}\r\nX-Request-Id: ${this.id}\r\n\r\n`,
        'latin1',
      )
      if (this.#early.length > 0) this.#exchange?.write(this.#early)
      this.#socket.on('data', (bytes: Buffer) => {
        if (this.#exchange?.write(bytes) === false) this.#socket.pause()
      })
      return
    }
    // The app declined: an answer like any other, the last on this connection.
    this.#rechunk = !head.chunked && head.length < 0 && head.status !== 204 && head.status !== 304
    const framing = head.chunked || this.#rechunk ? 'Transfer-Encoding: chunked\r\n' : ''
    this.#socket.write(`${start}${framing}Connection: close\r\nX-Request-Id: ${this.id}\r\n\r\n`, 'latin1')
  }

  data(bytes: Buffer, start: number, end: number, framing = 0): boolean {
    if (!this.#open) this.#tally.sent(end - start - framing)
    if (this.#rechunk) this.#socket.write(`${(end - start).toString(16)}\r\n`, 'latin1')
    this.#socket.write(bytes.subarray(start, end))
    if (this.#rechunk) this.#socket.write('\r\n', 'latin1')
    if (this.#socket.writableLength === 0) return true
    // As on the plain path: told when these very bytes are gone.
    this.#socket.write(Buffer.alloc(0), () => this.#exchange?.resume())
    return false
  }

  end(): void {
    if (this.#open) {
      this.#socket.end()
      this.deadline = this.#gate.sweep.now + limits.tunnel_half_closed_ms
      return
    }
    this.#exchange = undefined
    if (this.#rechunk) this.#socket.write('0\r\n\r\n', 'latin1')
    this.#hangUp()
  }

  #clientEnded(): void {
    // Half-closed: the app may have more to say.
    if (this.#open) this.#exchange?.half()
    this.deadline = this.#gate.sweep.now + (this.#open ? limits.tunnel_half_closed_ms : limits.half_closed_ms)
  }

  fail(failure: Failure): void {
    this.#exchange = undefined
    if (this.#open && this.#socket.writableEnded) return
    if (this.#answered) return this.#cut()
    if ((failure === 'refused' || failure === 'moved') && this.#gate.router.find(this.host) !== this.#instance) {
      this.#instance?.leave(this.#cut, this.#quiet)
      this.#instance = undefined
      return this.#dispatch()
    }
    this.#gate.log.warn('edge.upstream_failed', { request_id: this.id, host: this.host, failure })
    this.#page(failurePage(failure, this.#instance?.route))
  }

  #closed(): void {
    this.#gate.sweep.delete(this)
    this.#stopWaiting()
    this.#exchange?.abort()
    this.#exchange = undefined
    this.#tally.gone()
    this.#instance?.leave(this.#cut, this.#quiet)
    this.#instance = undefined
  }
}
