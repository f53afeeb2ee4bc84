import type { Socket } from 'node:net'
import { answerHead, type Answer } from './answer.ts'
import type { Entry } from './cache/entry.ts'
import { hidesHsts, withoutHsts } from './elsewhere.ts'
import type { Gate } from './gate.ts'
import { limits } from './limits.ts'
import type { Tally } from './meter.ts'
import type { ResponseHead } from './response-head.ts'
import { sendSlice } from './slice.ts'

/** Whom an answer is for. */
export interface Asker {
  readonly id: string
  readonly method: string
  readonly host: string
}

const nothing = Buffer.alloc(0)

/** Writes answers onto a plain connection, one after the other. */
export class PlainAnswer {
  /** Something of it is out: it cannot become another answer. */
  begun = false
  readonly #gate: Gate
  readonly #socket: Socket
  readonly #tally: Tally
  /** Called when the bytes that were last given are gone. */
  readonly #gone: () => void
  #status = 0
  /** The head, until it goes out with the first of the body. */
  #head = ''
  #rechunk = false

  constructor(gate: Gate, socket: Socket, tally: Tally, gone: () => void) {
    this.#gate = gate
    this.#socket = socket
    this.#tally = tally
    this.#gone = gone
  }

  reset(): void {
    this.begun = false
    this.#rechunk = false
    this.#head = ''
  }

  head(head: ResponseHead, asker: Asker, close: boolean): void {
    this.#status = head.status
    this.#rechunk = !head.chunked && head.length < 0 && asker.method !== 'HEAD' && head.status !== 204 && head.status !== 304
    const lines = withoutHsts(this.#socket, asker.host, head.lines)
    this.#head = `HTTP/1.1 ${head.status} ${head.reason}\r\n${lines}${head.chunked || this.#rechunk ? 'Transfer-Encoding: chunked\r\n' : ''}${
      head.dated ? '' : this.#gate.dateLine()
    }${close ? 'Connection: close\r\n' : ''}X-Request-Id: ${asker.id}\r\n\r\n`
  }

  flush(): void {
    if (this.#head === '') return
    this.#tally.answered(this.#status)
    this.begun = true
    this.#socket.write(this.#head, 'latin1')
    this.#head = ''
  }

  /** As `Sink.data`. */
  data(bytes: Buffer, start: number, end: number, framing: number): boolean {
    const socket = this.#socket
    if (this.#rechunk) this.#head += `${(end - start).toString(16)}\r\n`
    const head = this.#head
    if (head !== '') this.#tally.answered(this.#status)
    this.#tally.sent(end - start - framing)
    if (head === '') socket.write(bytes.subarray(start, end))
    else if (start >= head.length) {
      // Head and body in one write: one packet, one system call. The head goes where the app's was.
      bytes.write(head, start - head.length, 'latin1')
      this.#head = ''
      this.begun = true
      socket.write(bytes.subarray(start - head.length, end))
    } else {
      const whole = Buffer.allocUnsafe(head.length + end - start)
      whole.write(head, 0, 'latin1')
      bytes.copy(whole, head.length, start, end)
      this.#head = ''
      this.begun = true
      socket.write(whole)
    }
    if (this.#rechunk) socket.write('\r\n', 'latin1')
    if (socket.writableLength === 0) return true
    // `drain` comes only from a certain amount on, but these bytes must be gone, however few: a write of nothing queues behind them.
    socket.write(nothing, this.#gone)
    return false
  }

  end(): void {
    if (this.#rechunk) this.#head += '0\r\n\r\n'
    this.flush()
  }

  /** An answer that is there as a whole. Undefined when it is out at once, else whether it got out. */
  send(answer: Answer, asker: Asker, close: boolean): Promise<boolean> | undefined {
    const socket = this.#socket
    const shown = hidesHsts(socket, asker.host) ? { ...answer, lines: withoutHsts(socket, asker.host, answer.lines) } : answer
    const head = `${answerHead(shown, asker.id, this.#gate.dateLine())}${close ? 'Connection: close\r\n' : ''}\r\n`
    this.begun = true
    this.#tally.answered(answer.status)
    const { body } = answer
    if (body !== null && !Buffer.isBuffer(body) && asker.method !== 'HEAD') {
      socket.write(head, 'latin1')
      return sendSlice(body, socket, (bytes) => this.#tally.sent(bytes))
    }
    if (body === null || asker.method === 'HEAD') {
      if (body !== null && !Buffer.isBuffer(body)) body.close()
      socket.write(head, 'latin1')
    } else if (Buffer.isBuffer(body)) {
      this.#tally.sent(body.length)
      if (body.length > limits.join_bytes) this.#both(Buffer.from(head, 'latin1'), body)
      else {
        const whole = Buffer.allocUnsafe(head.length + body.length)
        whole.write(head, 0, 'latin1')
        body.copy(whole, head.length)
        socket.write(whole)
      }
    }
    return undefined
  }

  /** What is stored, all of it, to who sent a plain GET: no line of its head is made anew. */
  stored(entry: Entry, id: string, now: number): void {
    this.begun = true
    this.#tally.cached('hit')
    this.#tally.answered(entry.status)
    this.#tally.sent(entry.body_length)
    if (entry.body_length <= limits.join_bytes) this.#socket.write(entry.headFor(id, now, entry.body_length))
    else this.#both(entry.headFor(id, now, 0), entry.body)
  }

  #both(head: Buffer, body: Buffer): void {
    this.#socket.cork()
    this.#socket.write(head)
    this.#socket.write(body)
    this.#socket.uncork()
  }
}
