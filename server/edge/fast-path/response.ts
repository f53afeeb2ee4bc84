import type { Socket } from 'node:net'
import { formatResponseHead, type EdgeResponse } from '../response.ts'
import type { CacheEntry } from '../cache/entry.ts'
import { shouldStripHsts, stripHsts } from '../https-redirect.ts'
import type { EdgeContext } from '../edge-context.ts'
import { limits } from '../limits.ts'
import type { RequestMetrics } from '../metrics.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { sendFileSlice } from '../static/send-file.ts'

/** Whom an answer is for. */
export interface RespondedRequest {
  readonly id: string
  readonly method: string
  readonly host: string
}

const emptyBuffer = Buffer.alloc(0)

/** Writes answers onto a plain connection, one after the other. */
export class FastPathResponse {
  /** Something of it is out: it cannot become another answer. */
  hasStarted = false
  readonly #edge: EdgeContext
  readonly #socket: Socket
  readonly #metrics: RequestMetrics
  /** Called when the bytes that were last given are gone. */
  readonly #onDrain: () => void
  #status = 0
  /** The head, until it goes out with the first of the body. */
  #head = ''
  #isChunking = false

  constructor(edge: EdgeContext, socket: Socket, metrics: RequestMetrics, onDrain: () => void) {
    this.#edge = edge
    this.#socket = socket
    this.#metrics = metrics
    this.#onDrain = onDrain
  }

  reset(): void {
    this.hasStarted = false
    this.#isChunking = false
    this.#head = ''
  }

  writeHead(writeHead: ResponseHead, request: RespondedRequest, close: boolean): void {
    this.#status = writeHead.status
    this.#isChunking = !writeHead.chunked && writeHead.length < 0 && request.method !== 'HEAD' && writeHead.status !== 204 && writeHead.status !== 304
    const lines = stripHsts(this.#socket, request.host, writeHead.lines)
    this.#head = `HTTP/1.1 ${writeHead.status} ${writeHead.reason}\r\n${lines}${writeHead.chunked || this.#isChunking ? 'Transfer-Encoding: chunked\r\n' : ''}${
      writeHead.hasDate ? '' : this.#edge.dateLine()
    }${close ? 'Connection: close\r\n' : ''}X-Request-Id: ${request.id}\r\n\r\n`
  }

  flush(): void {
    if (this.#head === '') return
    this.#metrics.recordStatus(this.#status)
    this.hasStarted = true
    this.#socket.write(this.#head, 'latin1')
    this.#head = ''
  }

  /** As `Sink.data`. */
  write(bytes: Buffer, start: number, end: number, framing: number): boolean {
    const socket = this.#socket
    if (this.#isChunking) this.#head += `${(end - start).toString(16)}\r\n`
    const writeHead = this.#head
    if (writeHead !== '') this.#metrics.recordStatus(this.#status)
    this.#metrics.recordBytes(end - start - framing)
    if (writeHead === '') socket.write(bytes.subarray(start, end))
    else if (start >= writeHead.length) {
      // Head and body in one write: one packet, one system call. The head goes where the app's was.
      bytes.write(writeHead, start - writeHead.length, 'latin1')
      this.#head = ''
      this.hasStarted = true
      socket.write(bytes.subarray(start - writeHead.length, end))
    } else {
      const whole = Buffer.allocUnsafe(writeHead.length + end - start)
      whole.write(writeHead, 0, 'latin1')
      bytes.copy(whole, writeHead.length, start, end)
      this.#head = ''
      this.hasStarted = true
      socket.write(whole)
    }
    if (this.#isChunking) socket.write('\r\n', 'latin1')
    if (socket.writableLength === 0) return true
    // `drain` comes only from a certain amount on, but these bytes must be gone, however few: a write of nothing queues behind them.
    socket.write(emptyBuffer, this.#onDrain)
    return false
  }

  end(): void {
    if (this.#isChunking) this.#head += '0\r\n\r\n'
    this.flush()
  }

  /** An answer that is there as a whole. Undefined when it is out at once, else whether it got out. */
  send(response: EdgeResponse, request: RespondedRequest, close: boolean): Promise<boolean> | undefined {
    const socket = this.#socket
    const visible = shouldStripHsts(socket, request.host) ? { ...response, lines: stripHsts(socket, request.host, response.lines) } : response
    const writeHead = `${formatResponseHead(visible, request.id, this.#edge.dateLine())}${close ? 'Connection: close\r\n' : ''}\r\n`
    this.hasStarted = true
    this.#metrics.recordStatus(response.status)
    const { body } = response
    if (body !== null && !Buffer.isBuffer(body) && request.method !== 'HEAD') {
      socket.write(writeHead, 'latin1')
      return sendFileSlice(body, socket, (bytes) => this.#metrics.recordBytes(bytes))
    }
    if (body === null || request.method === 'HEAD') {
      if (body !== null && !Buffer.isBuffer(body)) body.close()
      socket.write(writeHead, 'latin1')
    } else if (Buffer.isBuffer(body)) {
      this.#metrics.recordBytes(body.length)
      if (body.length > limits.coalesce_bytes) this.#writeBoth(Buffer.from(writeHead, 'latin1'), body)
      else {
        const whole = Buffer.allocUnsafe(writeHead.length + body.length)
        whole.write(writeHead, 0, 'latin1')
        body.copy(whole, writeHead.length)
        socket.write(whole)
      }
    }
    return undefined
  }

  /** What is stored, all of it, to who sent a plain GET: no line of its head is made anew. */
  sendStored(entry: CacheEntry, id: string, now: number): void {
    this.hasStarted = true
    this.#metrics.setCacheOutcome('hit')
    this.#metrics.recordStatus(entry.status)
    this.#metrics.recordBytes(entry.body_length)
    if (entry.body_length <= limits.coalesce_bytes) this.#socket.write(entry.headFor(id, now, entry.body_length))
    else this.#writeBoth(entry.headFor(id, now, 0), entry.body)
  }

  #writeBoth(writeHead: Buffer, body: Buffer): void {
    this.#socket.cork()
    this.#socket.write(writeHead)
    this.#socket.write(body)
    this.#socket.uncork()
  }
}
