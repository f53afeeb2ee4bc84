import { connect, type Socket } from 'node:net'

export interface RawHttpResponse {
  /** 0 when the connection ended before a head. */
  status: number
  headers: Map<string, string>
  body: Buffer
  /** False when the connection ended before the answer did. */
  whole: boolean
}

interface PendingRequest {
  method: string
  resolve(response: RawHttpResponse): void
}

const emptyBuffer = Buffer.alloc(0)

/**
 * A connection to the edge on a bare socket: cheap enough for a hundred thousand requests, and it hides nothing. Answers come in
 * the order of the questions; bytes that nobody asked for end in `stray`.
 */
export class RawHttpClient {
  readonly socket: Socket
  /** Bytes that belong to no question: must stay empty. */
  unexpected_bytes = ''
  closed = false
  readonly #waiting: PendingRequest[] = []
  #bytes: Buffer = emptyBuffer
  /** What an answer of which the end is not here yet lacks, at least: nothing is read twice for each piece of it. */
  #enough = 0

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true })
    this.socket.on('error', () => {})
    this.socket.on('data', (bytes: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes])
      this.#read(false)
    })
    this.socket.on('close', () => {
      this.closed = true
      this.#enough = 0
      this.#read(true)
      for (const one of this.#waiting.splice(0)) one.resolve({ status: 0, headers: new Map(), body: emptyBuffer, whole: false })
    })
  }

  /** Sends one request as it is. `head` without the empty line. */
  request(head: string, body: string | Buffer = ''): Promise<RawHttpResponse> {
    const response = this.expectResponse(head.slice(0, head.indexOf(' ')))
    this.socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)]))
    return response
  }

  /** An answer to something that is written by hand. */
  expectResponse(method: string): Promise<RawHttpResponse> {
    return new Promise((resolve) => {
      if (this.closed) resolve({ status: 0, headers: new Map(), body: emptyBuffer, whole: false })
      else this.#waiting.push({ method, resolve })
    })
  }

  destroy(): void {
    this.socket.destroy()
  }

  #read(isOver: boolean): void {
    while (this.#bytes.length > 0 && this.#bytes.length >= this.#enough) {
      const [first] = this.#waiting
      if (first === undefined) {
        this.unexpected_bytes += this.#bytes.toString('latin1')
        this.#bytes = emptyBuffer
        return
      }
      const response = this.#next(first.method, isOver)
      if (response === undefined) return
      if (response.status >= 100 && response.status < 200) continue
      this.#waiting.shift()
      first.resolve(response)
    }
  }

  /** The answer at the front, taken off; undefined while more of it has to come. */
  #next(method: string, isOver: boolean): RawHttpResponse | undefined {
    const bytes = this.#bytes
    const headEnd = bytes.indexOf('\r\n\r\n')
    if (headEnd < 0) return isOver ? this.#take(bytes.length, { status: 0, headers: new Map(), body: bytes, whole: false }) : undefined
    const [start = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
    const headers = new Map<string, string>()
    for (const line of lines) {
      const colon = line.indexOf(':')
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
    }
    const status = /^HTTP\/1\.1 \d{3} /.test(start) ? Number(start.slice(9, 12)) : -1
    const from = headEnd + 4
    if (method === 'HEAD' || status < 200 || status === 204 || status === 304)
      return this.#take(from, { status, headers, body: emptyBuffer, whole: true })
    if (headers.get('transfer-encoding') === 'chunked') {
      const destroy = chunkedEnd(bytes, from)
      if (destroy !== undefined) return this.#take(destroy.at, { status, headers, body: destroy.body, whole: true })
    } else if (headers.has('content-length')) {
      const destroy = from + Number(headers.get('content-length'))
      if (bytes.length >= destroy) return this.#take(destroy, { status, headers, body: bytes.subarray(from, destroy), whole: true })
      this.#enough = isOver ? 0 : destroy
    } else if (isOver) return this.#take(bytes.length, { status, headers, body: bytes.subarray(from), whole: true })
    return isOver ? this.#take(bytes.length, { status, headers, body: bytes.subarray(from), whole: false }) : undefined
  }

  #take(destroy: number, response: RawHttpResponse): RawHttpResponse {
    this.#bytes = destroy === this.#bytes.length ? emptyBuffer : this.#bytes.subarray(destroy)
    this.#enough = 0
    return response
  }
}

/** Where a chunked body ends, and what it says; undefined when it has not ended. */
function chunkedEnd(bytes: Buffer, from: number): { at: number; body: Buffer } | undefined {
  const parts: Buffer[] = []
  for (let at = from; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (Number.isNaN(size)) throw new Error(`not a chunk: ${bytes.toString('latin1', at, at + 20)}`)
    at = line + 2
    if (size === 0) {
      const end = bytes.indexOf('\r\n', at)
      if (end < 0) return undefined
      if (end === at) return { at: end + 2, body: Buffer.concat(parts) }
      const last = bytes.indexOf('\r\n\r\n', at)
      return last < 0 ? undefined : { at: last + 4, body: Buffer.concat(parts) }
    }
    if (bytes.length < at + size + 2) return undefined
    parts.push(bytes.subarray(at, at + size))
    at += size + 2
  }
}
