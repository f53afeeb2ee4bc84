import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../contract/errors.ts'
import { newId } from '../lib/id.ts'
import { addressKey } from './rate-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { commonHeaders, serializeResponse, errorResponse } from './response.ts'
import { maxUrlBytes } from './http-request.ts'

/** How long the headers and the whole of a request may take to arrive. */
export interface RequestTimeouts {
  headers_ms: number
  request_ms: number
}

export const defaultTimeouts: RequestTimeouts = { headers_ms: 10_000, request_ms: 60_000 }

const pendingResponses = new WeakMap<Socket, ServerResponse>()

/** The answer that is being made on a connection, if any. */
export const findPendingResponse = (socket: Socket): ServerResponse | undefined => pendingResponses.get(socket)

type RequestHandler = (req: IncomingMessage, res: ServerResponse) => unknown

/**
 * Node's HTTP server with its own answers replaced by ours: what its parser refuses reaches no handler, and would go out
 * without a body.
 */
export function createHttpServer(handle: RequestHandler, rateLimit: RateLimit, timeouts: RequestTimeouts): Server {
  const server = createServer({
    requireHostHeader: false,
    headersTimeout: timeouts.headers_ms,
    // Node has one for all requests, and an upload may take hours: the body of every other is timed where it is read.
    requestTimeout: 0,
    // How often Node looks for requests that are over their time; 30 s by default, which would make 10 s mean 40.
    connectionsCheckingInterval: Math.min(2_000, timeouts.headers_ms),
    maxHeaderSize: 16 * 1024,
  })
  // Node drops headers past its limit without a word; the pipeline counts them and refuses.
  server.maxHeadersCount = 0
  const listener: RequestHandler = (req, res) => {
    pendingResponses.set(req.socket, res)
    res.once('close', () => pendingResponses.delete(req.socket))
    return handle(req, res)
  }
  server.on('request', listener)
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  server.on('connect', (req: IncomingMessage, socket: Socket) => {
    rejectConnection(socket, new Problem('method_not_allowed', `${req.method} is not possible here: this is no proxy.`), {
      allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
    })
  })
  server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const problem = parserProblem(error)
    const pending = pendingResponses.get(socket)
    if (!pending) return rejectConnection(socket, problem)
    // Half an answer cannot be followed by another; a request that came in whole gets its answer first.
    if (pending.headersSent && !pending.writableEnded) return void socket.destroy()
    if (pending.req.complete && !pending.writableFinished) return void pending.once('finish', () => rejectConnection(socket, problem))
    rejectConnection(socket, problem)
  })

  function rejectConnection(socket: Socket, problem: Problem, headers: Record<string, string> = {}) {
    if (!socket.writable) return void socket.destroy()
    const requestId = newId('req')
    const response = errorResponse(problem, requestId)
    socket.end(
      serializeResponse({
        ...response,
        headers: { ...commonHeaders(requestId, rateLimit.peek(addressKey(socket.remoteAddress))), ...response.headers, ...headers },
      }),
    )
    // A peer that does not read its answer does not keep the socket.
    socket.setTimeout(2_000, () => socket.destroy())
    socket.on('error', () => socket.destroy())
  }
  return server
}

function parserProblem(error: { code?: string; rawPacket?: Buffer }): Problem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout', 'The request did not arrive in time. Send it again.')
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const line = error.rawPacket?.indexOf('\n') ?? -1
    return line === -1 || line > maxUrlBytes
      ? new Problem('uri_too_long', `The address is longer than ${maxUrlBytes} bytes. Send long values in the body.`)
      : new Problem('headers_too_large', 'The headers are larger than 16 kB. Send fewer or shorter ones.')
  }
  return new Problem('bad_request', 'This is not a request in order of HTTP/1.1. Check the request line, the headers and their framing.')
}
