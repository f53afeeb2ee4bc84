import { connect as connectHttp2, type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { systemClock } from '../../server/lib/clock.ts'
import { createCertificateAuthority, type CertificateAuthority, type AuthorityStore } from '../../server/tls/certificate-authority.ts'
import { collectResponse, type HttpResponse } from './edge.ts'

/** A certificate authority in memory. */
export function createTestAuthority(machine = 'test machine'): CertificateAuthority & { writes: number } {
  let storedRecord: Awaited<ReturnType<AuthorityStore['read']>>
  const authority = createCertificateAuthority({
    clock: systemClock,
    machine,
    store: {
      read: async () => storedRecord,
      async write(record) {
        countingAuthority.writes++
        storedRecord = record
      },
      async remove() {
        storedRecord = undefined
      },
    },
  })
  const countingAuthority = Object.assign(authority, { writes: 0 })
  return countingAuthority
}

/** One HTTPS request over HTTP/1.1. Rejects if the certificate is not trusted or the response is incomplete. */
export function getHttps(
  port: number,
  path: string,
  options: { ca: string; servername?: string; host?: string; method?: string; headers?: Record<string, string>; body?: string | Buffer },
): Promise<HttpResponse> {
  const name = options.servername ?? 'app.localhost'
  const requestOptions: RequestOptions = {
    host: '127.0.0.1',
    port,
    path,
    method: options.method ?? 'GET',
    agent: false,
    ca: options.ca,
    servername: name,
    headers: { host: options.host ?? `${name}:${port}`, ...options.headers },
  }
  return new Promise((resolve, reject) => {
    const request = httpsRequest(requestOptions, (response) => void collectResponse(response).then(resolve, reject))
    request.on('error', reject)
    request.end(options.body)
  })
}

export interface Http2Client {
  session: ClientHttp2Session
  get(path: string, options?: { headers?: OutgoingHttpHeaders; body?: Buffer | string }): Promise<Http2Response>
  close(): Promise<void>
}

export interface Http2Response {
  status: number
  headers: IncomingHttpHeaders
  trailers: IncomingHttpHeaders
  interim: number[]
  body: Buffer
  text: string
}

/** An HTTP/2 connection. Each request rejects if its stream is reset. */
export async function openHttp2(port: number, options: { ca: string; servername?: string }): Promise<Http2Client> {
  const name = options.servername ?? 'app.localhost'
  const session = connectHttp2(`https://${name}:${port}`, {
    createConnection: () => connectTls({ host: '127.0.0.1', port, servername: name, ca: options.ca, ALPNProtocols: ['h2'] }),
  })
  await new Promise<void>((resolve, reject) => session.once('connect', () => resolve()).once('error', reject))
  session.on('error', () => {})
  return {
    session,
    get(path, { headers = {}, body } = {}) {
      return new Promise((resolve, reject) => {
        const stream = session.request({ ':path': path, ...headers }, { endStream: body === undefined })
        const response: Http2Response = { status: 0, headers: {}, trailers: {}, interim: [], body: Buffer.alloc(0), text: '' }
        const parts: Buffer[] = []
        stream.on('headers', (interim) => response.interim.push(Number(interim[':status'])))
        stream.on('response', (head) => {
          response.status = Number(head[':status'])
          response.headers = head
        })
        stream.on('trailers', (trailers) => (response.trailers = trailers))
        stream.on('data', (bytes: Buffer) => parts.push(bytes))
        stream.on('error', reject)
        stream.on('close', () => {
          response.body = Buffer.concat(parts)
          response.text = response.body.toString()
          if (stream.rstCode === 0) resolve(response)
          else reject(new Error(`reset with ${stream.rstCode}`))
        })
        if (body !== undefined) stream.end(body)
      })
    },
    close: () => new Promise((resolve) => session.close(() => resolve())),
  }
}

/** A TLS connection after its handshake. */
export function openTlsSocket(port: number, options: { ca?: string; servername?: string; protocols?: string[]; host?: string }): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(
      {
        socket: connect({ host: options.host ?? '127.0.0.1', port }),
        host: options.host ?? '127.0.0.1',
        ...(options.ca === undefined ? { rejectUnauthorized: false } : { ca: options.ca }),
        ...(options.servername === undefined ? {} : { servername: options.servername }),
        ...(options.protocols === undefined ? {} : { ALPNProtocols: options.protocols }),
      },
      () => resolve(socket),
    )
    socket.on('error', reject)
  })
}

/** Raw HTTP/2 frames, for input that no client would send. */
export const frames = {
  preface: Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]),
  headers: (stream: number, fields: [string, string][], options: { end?: boolean; end_headers?: boolean } = {}): Buffer =>
    frame(1, (options.end_headers === false ? 0 : 4) | (options.end === false ? 0 : 1), stream, Buffer.concat(fields.map(encodeLiteralField))),
  continuation: (stream: number, fields: [string, string][]): Buffer => frame(9, 4, stream, Buffer.concat(fields.map(encodeLiteralField))),
  data: (stream: number, bytes: string, end: boolean): Buffer => frame(0, end ? 1 : 0, stream, Buffer.from(bytes)),
  reset: (stream: number, code = 8): Buffer => frame(3, 0, stream, uint32(code)),
}

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A literal field without indexing and Huffman coding, of at most 126 bytes. */
function encodeLiteralField([name, value]: [string, string]): Buffer {
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value, 'latin1')])
}
