import { connect, type Socket } from 'node:net'

export interface RawHttpResponse {
  /** 0 if the connection ended before a head. */
  status: number
  headers: Map<string, string>
  body: Buffer
  /** False if the connection ended before the response did. */
  whole: boolean
}

interface PendingRequest {
  method: string
  resolve(response: RawHttpResponse): void
}

const emptyBuffer = Buffer.alloc(0)

/**
 * A raw-socket connection to the edge, which is cheap enough for a hundred thousand requests and hides nothing. Responses arrive in the order of the
 * requests; unsolicited bytes are stored in `unexpected_bytes`.
 */
export class RawHttpClient {
  readonly socket: Socket
  /** Bytes that belong to no request; must stay empty. */
  unexpected_bytes = ''
  closed = false
  readonly #waiting: PendingRequest[] = []
  #bytes: Buffer = emptyBuffer
  /** The minimum number of bytes that an incomplete response needs, so that nothing is parsed again for each chunk. */
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

  /** Sends one request unchanged. `head` excludes the empty line. */
  request(head: string, body: string | Buffer = ''): Promise<RawHttpResponse> {
    const response = this.expectResponse(head.slice(0, head.indexOf(' ')))
    this.socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body)]))
    return response
  }

  /** Expects a response to a request that is written manually. */
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

  /** Removes and returns the first response; undefined if it is incomplete. */
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

/** The end and the content of a chunked body; undefined if it is incomplete. */
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
