import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Problem } from '../contract/errors.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import { explainConnectionError } from './explain-connection-error.ts'
import { stripBrackets, formatInsecureOrigin, isPrivateAddress } from './origin.ts'
import { getTrustedContext } from './trusted-context.ts'

interface RemoteRequest {
  method: string
  /** Path and query. */
  path: string
  headers: OutgoingHttpHeaders
  body?: Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** How long the remote may take to answer once it has the whole request. */
  head_timeout_ms: number
  /** How long it may be silent during a response. */
  idle_timeout_ms: number
  signal: AbortSignal
}

/** Resolution, connection and TLS together. */
const connectTimeout_ms = 10_000

/** Used only for reads, because a change sent on a connection that is being closed may or may not have been applied. */
const keepAliveAgents = {
  http: new HttpAgent({ keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 4 }),
  https: new HttpsAgent({ keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 4 }),
}

/** Resolves host names; the system's resolver except in tests. */
export type LookupAddresses = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export type SendRemoteRequest = (origin: string, remoteRequest: RemoteRequest) => Promise<IncomingMessage>

/**
 * Sends a request to an origin and resolves with the head of its response. The caller must read or destroy the body. Redirects are not followed.
 * Rejects with `remote_unreachable`, or with the signal's reason.
 */
export function createRequestSender(clock: Clock, resolve: LookupAddresses = lookup): SendRemoteRequest {
  return async (origin, remoteRequest) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendOnce(origin, remoteRequest, clock, resolve)
      } catch (error) {
        if (remoteRequest.signal.aborted) throw remoteRequest.signal.reason
        // The remote may have closed the kept connection at this moment.
        if (error instanceof StaleConnectionError && attempt < 3) continue
        if (error instanceof Problem) throw error
        throw new Problem(
          'remote_unreachable',
          explainConnectionError(error instanceof StaleConnectionError ? error.cause : error, new URL(origin).host),
        )
      }
    }
  }
}

class StaleConnectionError extends Error {}

class RequestTimeoutError extends Error {
  readonly code = 'ETIMEDOUT'
}

function sendOnce(origin: string, remoteRequest: RemoteRequest, clock: Clock, resolve: LookupAddresses): Promise<IncomingMessage> {
  const url = new URL(origin)
  const isSecure = url.protocol === 'https:'
  const { promise, resolve: resolveResponse, reject } = Promise.withResolvers<IncomingMessage>()
  // With keep-alive, the remote reads the rest of a rejected upload, so that its response is not lost.
  const ownAgent = remoteRequest.method === 'GET' ? undefined : new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const agent = ownAgent ?? (isSecure ? keepAliveAgents.https : keepAliveAgents.http)
  const request: ClientRequest = (isSecure ? requestHttps : requestHttp)({
    host: stripBrackets(url.hostname),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    method: remoteRequest.method,
    path: remoteRequest.path,
    headers: remoteRequest.headers,
    agent,
    lookup: createLookup(resolve, isSecure),
    insecureHTTPParser: false,
    maxHeaderSize: 16 * 1024,
    signal: remoteRequest.signal,
    // Set explicitly, so that the environment cannot disable verification.
    ...(isSecure ? { rejectUnauthorized: true, secureContext: getTrustedContext() } : {}),
  })
  let timer = clock.setTimeout(() => request.destroy(new RequestTimeoutError('no connection')), connectTimeout_ms)
  let idleTimer: Timer | undefined

  request.once('socket', (socket) => {
    const onConnect = () => timer.cancel()
    if (request.reusedSocket) onConnect()
    else socket.once(isSecure ? 'secureConnect' : 'connect', onConnect)
    idleTimer = startIdleTimer(clock, socket, remoteRequest.head_timeout_ms, () => request.destroy(new RequestTimeoutError('silence')))
  })
  request.once('finish', () => {
    timer.cancel()
    timer = clock.setTimeout(() => request.destroy(new RequestTimeoutError('no answer')), remoteRequest.head_timeout_ms)
  })
  request.once('response', (response) => {
    timer.cancel()
    idleTimer?.cancel()
    idleTimer = startIdleTimer(clock, response.socket, remoteRequest.idle_timeout_ms, () => response.destroy(new RequestTimeoutError('silence')))
    // The reader of the stream receives the error. This listener prevents an uncaught exception.
    response.on('error', () => {})
    // The remote may respond before it has the whole body. The rest of the body is then not sent.
    response.once('end', () => request.writableFinished || request.destroy())
    resolveResponse(response)
  })
  request.once('close', () => {
    timer.cancel()
    idleTimer?.cancel()
    ownAgent?.destroy()
    // For example after a 101, which causes neither a response nor an error.
    reject(new Error('The connection ended without a response.'))
  })
  request.on('error', (error) => {
    const isStale = request.reusedSocket && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code))
    reject(isStale ? new StaleConnectionError('stale', { cause: error }) : error)
  })

  const { body } = remoteRequest
  if (body === undefined || body instanceof Uint8Array) request.end(body)
  else
    pipeline(body, request).catch((error: unknown) => {
      // An error of this instance (too large, too slow) takes precedence over the connection error.
      if (error instanceof Problem) reject(error)
      request.destroy()
    })
  return promise
}

/** How often the connection is checked within the idle timeout. */
const idleChecks = 4

/**
 * Calls `onIdle` once no byte was transferred in either direction for `ms` milliseconds. Consecutive checks are counted, because timers run before
 * data is read: after the event loop was blocked, one check is due and not all of them.
 */
function startIdleTimer(clock: Clock, socket: Socket, ms: number, onIdle: () => void): Timer {
  const countTransferredBytes = () => socket.bytesRead + socket.bytesWritten
  let before = countTransferredBytes()
  let unchanged = 0
  const timer = clock.setInterval(() => {
    const now = countTransferredBytes()
    unchanged = now === before ? unchanged + 1 : 0
    before = now
    if (unchanged < idleChecks) return
    setImmediate(() => {
      if (countTransferredBytes() !== now) return
      timer.cancel()
      onIdle()
    })
  }, ms / idleChecks)
  return timer
}

/**
 * http:// connects only to addresses that were checked here, regardless of what the name resolves to later. Names below localhost are this machine,
 * even if the resolver does not know them.
 */
const createLookup =
  (resolve: LookupAddresses, isSecure: boolean): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname.endsWith('.localhost') ? 'localhost' : hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const allowed = isSecure ? addresses : addresses.filter((entry) => isPrivateAddress(entry.address))
      const first = allowed[0]
      if (!first) return callback(new Problem('remote_unreachable', formatInsecureOrigin(hostname)), '')
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
