import type { Socket } from 'node:net'
import { formatResponseHead, type EdgeResponse } from '../response.ts'
import type { CacheEntry } from '../cache/entry.ts'
import { shouldStripHsts, stripHsts } from '../https-redirect.ts'
import type { EdgeContext } from '../edge-context.ts'
import { edgeLimits } from '../limits.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import { sendFileSlice } from '../static/send-file.ts'

/** The request that a response belongs to. */
export interface RespondedRequest {
  readonly id: string
  readonly method: string
  readonly host: string
}

const emptyBuffer = Buffer.alloc(0)

/** Writes responses on a fast-path connection, one after the other. */
export class FastPathResponse {
  /** Part of the response was sent, so it cannot be replaced by another. */
  hasStarted = false
  readonly #edge: EdgeContext
  readonly #socket: Socket
  readonly #metrics: RequestMetrics
  /** Called when the bytes of the last write were sent. */
  readonly #onDrain: () => void
  #status = 0
  /** The head, until it is sent with the first part of the body. */
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

  writeHead(head: ResponseHead, request: RespondedRequest, close: boolean): void {
    this.#status = head.status
    this.#isChunking = !head.chunked && head.length < 0 && request.method !== 'HEAD' && head.status !== 204 && head.status !== 304
    const lines = stripHsts(this.#socket, request.host, head.lines)
    this.#metrics.capture?.setResponseHead(lines, head.chunked)
    this.#head = `HTTP/1.1 ${head.status} ${head.reason}\r\n${lines}${head.chunked || this.#isChunking ? 'Transfer-Encoding: chunked\r\n' : ''}${
      head.hasDate ? '' : this.#edge.dateLine()
    }${close ? 'Connection: close\r\n' : ''}X-Request-Id: ${request.id}\r\n\r\n`
  }

  flush(): void {
    if (this.#head === '') return
    this.#metrics.recordStatus(this.#status)
    this.hasStarted = true
    this.#socket.write(this.#head, 'latin1')
    this.#head = ''
  }

  /** See `ResponseHandler.onData`. */
  write(bytes: Buffer, start: number, end: number, framing: number): boolean {
    const socket = this.#socket
    if (this.#isChunking) this.#head += `${(end - start).toString(16)}\r\n`
    const head = this.#head
    if (head !== '') this.#metrics.recordStatus(this.#status)
    this.#metrics.recordBytes(end - start - framing)
    this.#metrics.capture?.responseBody.add(bytes, start, end)
    if (head === '') socket.write(bytes.subarray(start, end))
    else if (start >= head.length) {
      // Head and body in one write, which saves a packet and a system call. The head is placed in the headroom before the body.
      bytes.write(head, start - head.length, 'latin1')
      this.#head = ''
      this.hasStarted = true
      socket.write(bytes.subarray(start - head.length, end))
    } else {
      const whole = Buffer.allocUnsafe(head.length + end - start)
      whole.write(head, 0, 'latin1')
      bytes.copy(whole, head.length, start, end)
      this.#head = ''
      this.hasStarted = true
      socket.write(whole)
    }
    if (this.#isChunking) socket.write('\r\n', 'latin1')
    if (socket.writableLength === 0) return true
    // `drain` fires only above the high-water mark, but these bytes must have been sent. An empty write queues behind them.
    socket.write(emptyBuffer, this.#onDrain)
    return false
  }

  end(): void {
    if (this.#isChunking) this.#head += '0\r\n\r\n'
    this.flush()
  }

  /** Sends a complete response. Returns undefined if it was sent immediately, else whether it was sent completely. */
  send(response: EdgeResponse, request: RespondedRequest, close: boolean): Promise<boolean> | undefined {
    const socket = this.#socket
    const visible = shouldStripHsts(socket, request.host) ? { ...response, lines: stripHsts(socket, request.host, response.lines) } : response
    const head = `${formatResponseHead(visible, request.id, this.#edge.dateLine())}${close ? 'Connection: close\r\n' : ''}\r\n`
    this.hasStarted = true
    this.#metrics.recordStatus(response.status)
    this.#metrics.capture?.setResponseHead(visible.lines, false)
    const { body } = response
    if (body !== null && !Buffer.isBuffer(body) && request.method !== 'HEAD') {
      socket.write(head, 'latin1')
      return sendFileSlice(body, socket, (bytes) => this.#metrics.recordFilePart(bytes))
    }
    if (body === null || request.method === 'HEAD') {
      if (body !== null && !Buffer.isBuffer(body)) body.close()
      socket.write(head, 'latin1')
    } else if (Buffer.isBuffer(body)) {
      this.#metrics.recordBytes(body.length)
      this.#metrics.capture?.responseBody.add(body)
      if (body.length > edgeLimits.coalesce_bytes) this.#writeBoth(Buffer.from(head, 'latin1'), body)
      else {
        const whole = Buffer.allocUnsafe(head.length + body.length)
        whole.write(head, 0, 'latin1')
        body.copy(whole, head.length)
        socket.write(whole)
      }
    }
    return undefined
  }

  /** Sends a stored response for a plain GET without formatting any header line. */
  sendStored(entry: CacheEntry, id: string, now: number): void {
    this.hasStarted = true
    this.#metrics.setCacheOutcome('hit', 'hit')
    this.#metrics.recordStatus(entry.status)
    this.#metrics.recordBytes(entry.body_length)
    if (this.#metrics.capture !== null) {
      this.#metrics.capture.setResponseHead(entry.lines, false)
      this.#metrics.capture.responseBody.add(entry.body)
    }
    if (entry.body_length <= edgeLimits.coalesce_bytes) this.#socket.write(entry.headFor(id, now, entry.body_length))
    else this.#writeBoth(entry.headFor(id, now, 0), entry.body)
  }

  #writeBoth(head: Buffer, body: Buffer): void {
    this.#socket.cork()
    this.#socket.write(head)
    this.#socket.write(body)
    this.#socket.uncork()
  }
}
