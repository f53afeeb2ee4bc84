import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { limits } from '../contract/limits.ts'
import type { AppListener } from '../network/app-listeners.ts'

const decompress = promisify(gunzip)
const maxBytes = limits.tracing.body_bytes

export interface OtlpRequest {
  token: string | undefined
  is_json: boolean
  /** Reads the body, after the sender was identified. Rejects with an `OtlpError`. */
  readBody(): Promise<Uint8Array>
}

/** How many spans were not stored, and why. */
export interface OtlpResult {
  rejected: number
  reason: string
}

/** A refused request. `code`: of gRPC, as OTLP/HTTP uses it in the body. */
export class OtlpError extends Error {
  readonly status: number
  readonly code: number
  constructor(status: 400 | 401 | 404 | 413 | 415 | 429 | 503, message: string) {
    super(message)
    this.status = status
    this.code = { 400: 3, 401: 16, 404: 5, 413: 3, 415: 3, 429: 8, 503: 14 }[status]
  }
}

/** Listens for OTLP/HTTP on one address. */
export async function listenForOtlp(host: string, port: number, receive: (request: OtlpRequest) => Promise<OtlpResult>): Promise<AppListener> {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, maxHeaderSize: 8192, keepAliveTimeout: 65_000 },
    (request, response) => {
      void answer(request, response, receive)
    },
  )
  server.maxConnections = 500
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      // Errors of broken client connections.
      server.on('error', () => {})
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, receive: (request: OtlpRequest) => Promise<OtlpResult>): Promise<void> {
  const contentType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  const is_json = contentType === 'application/json'
  try {
    if (request.url !== '/v1/traces') throw new OtlpError(404, 'Homeport receives traces at /v1/traces. It receives no metrics and logs.')
    if (request.method !== 'POST') throw new OtlpError(404, 'Send spans with POST.')
    if (!is_json && contentType !== 'application/x-protobuf') throw new OtlpError(415, 'Use application/x-protobuf or application/json.')
    const token = request.headers['x-homeport-token']
    const { rejected, reason } = await receive({ token: typeof token === 'string' ? token : undefined, is_json, readBody: () => readBody(request) })
    await respond(request, response, 200, is_json, rejected === 0 ? {} : { partialSuccess: { rejectedSpans: rejected, errorMessage: reason } })
  } catch (error) {
    if (!(error instanceof OtlpError)) return void request.destroy()
    await respond(request, response, error.status, is_json, { code: error.code, message: error.message })
  }
}

async function respond(request: IncomingMessage, response: ServerResponse, status: number, isJson: boolean, content: object): Promise<void> {
  // Loaded with the first request, because few apps send spans.
  const { encodeError, encodeResponse } = await import('./otlp-protobuf.ts')
  const body = isJson ? Buffer.from(JSON.stringify(content)) : status === 200 ? encodeResponse(content) : encodeError(content as never)
  if (response.destroyed) return
  response.writeHead(status, {
    'content-type': isJson ? 'application/json' : 'application/x-protobuf',
    'content-length': body.length,
    ...((status === 429 || status === 503) && { 'retry-after': '1' }),
    // What remains of the body is not read.
    ...(!request.complete && { connection: 'close' }),
  })
  response.end(body)
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'gzip' && encoding !== 'identity') throw new OtlpError(415, 'Use gzip, or no compression.')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks)
  if (encoding === 'identity') return body
  return decompress(body, { maxOutputLength: maxBytes }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : new OtlpError(400, 'The body is not valid gzip.')
  })
}

const tooLarge = () => new OtlpError(413, `A request may have ${maxBytes / 2 ** 20} MB, also when decompressed.`)
