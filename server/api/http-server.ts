import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { commandSocketPath } from '../contract/command-frames.ts'
import { Problem } from '../contract/errors.ts'
import { newId } from '../lib/id.ts'
import { addressKey } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { commonHeaders, serializeResponse, errorResponse } from './response.ts'
import { maxUrlBytes } from './http-request.ts'

/** Timeouts for receiving the headers and the whole request. */
export interface RequestTimeouts {
  headers_ms: number
  request_ms: number
}

export const defaultTimeouts: RequestTimeouts = { headers_ms: 10_000, request_ms: 60_000 }

const pendingResponses = new WeakMap<Socket, ServerResponse>()

/** The response in progress on a connection, if any. */
export const findPendingResponse = (socket: Socket): ServerResponse | undefined => pendingResponses.get(socket)

type RequestHandler = (req: IncomingMessage, res: ServerResponse) => unknown

/**
 * Node's HTTP server with our own responses for requests that its parser rejects. Those reach no handler, and Node would send a response
 * without a body.
 */
export function createHttpServer(
  handle: RequestHandler,
  rateLimit: RateLimit,
  timeouts: RequestTimeouts,
  /** Accepts WebSockets at `commandSocketPath`; a `Problem` becomes the response. */
  acceptSocket?: (req: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>,
): Server {
  const isSocketRequest = (req: IncomingMessage) => acceptSocket !== undefined && req.method === 'GET' && req.url === commandSocketPath
  const server = createServer({
    // Requests that ask for another upgrade are answered as if they did not.
    shouldUpgradeCallback: (req) => isSocketRequest(req) && req.headers.upgrade?.toLowerCase() === 'websocket',
    requireHostHeader: false,
    headersTimeout: timeouts.headers_ms,
    // Node's timeout would apply to uploads, which may take hours. Other bodies have a timeout where they are read.
    requestTimeout: 0,
    // Node checks timeouts every 30 s by default, so 10 s could become 40.
    connectionsCheckingInterval: Math.min(2_000, timeouts.headers_ms),
    maxHeaderSize: 16 * 1024,
  })
  // Node silently drops headers above its limit. The pipeline counts them and rejects the request.
  server.maxHeadersCount = 0
  const listener: RequestHandler = (req, res) => {
    pendingResponses.set(req.socket, res)
    res.once('close', () => pendingResponses.delete(req.socket))
    return handle(req, res)
  }
  server.on('request', listener)
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {})
    acceptSocket?.(req, socket, head).catch((error: unknown) => {
      const problem = error instanceof Problem ? error : new Problem('internal_error', 'The WebSocket could not be opened.', { cause: error })
      rejectConnection(socket, problem)
    })
  })
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    rejectConnection(socket, new Problem('method_not_allowed', `${req.method} is not supported, because this server is not a proxy.`), {
      allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
    })
  })
  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const problem = parserProblem(error)
    const pending = pendingResponses.get(socket)
    if (!pending) return rejectConnection(socket, problem)
    // A half-sent response cannot be followed by an error. A complete earlier request gets its response first.
    if (pending.headersSent && !pending.writableEnded) return void socket.destroy()
    if (pending.req.complete && !pending.writableFinished) return void pending.once('finish', () => rejectConnection(socket, problem))
    rejectConnection(socket, problem)
  })

  function rejectConnection(socket: Duplex, problem: Problem, headers: Record<string, string> = {}) {
    if (!socket.writable) return void socket.destroy()
    const requestId = newId('req')
    const response = errorResponse(problem, requestId)
    socket.end(
      serializeResponse({
        ...response,
        headers: {
          ...commonHeaders(requestId, rateLimit.peek(addressKey(socket instanceof Socket ? socket.remoteAddress : undefined))),
          ...response.headers,
          ...headers,
        },
      }),
    )
    // A peer that does not read the response must not keep the socket open.
    if (socket instanceof Socket) socket.setTimeout(2_000, () => socket.destroy())
    socket.on('error', () => socket.destroy())
  }
  return server
}

function parserProblem(error: { code?: string; rawPacket?: Buffer }): Problem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout', 'The request did not arrive in time. Send it again.')
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const line = error.rawPacket?.indexOf('\n') ?? -1
    return line === -1 || line > maxUrlBytes
      ? new Problem('uri_too_long', `The URL is longer than ${maxUrlBytes} bytes. Send long values in the body.`)
      : new Problem('headers_too_large', 'The headers are larger than 16 kB. Send fewer or shorter headers.')
  }
  return new Problem('bad_request', 'This is not a valid HTTP/1.1 request. Check the request line, the headers and the framing.')
}
