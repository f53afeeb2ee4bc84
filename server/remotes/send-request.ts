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
  /** How long it may think about its answer once it has the whole question. */
  head_timeout_ms: number
  /** How long it may be silent in the middle of an answer. */
  idle_timeout_ms: number
  signal: AbortSignal
}

/** Connection, name and TLS together. */
const connectTimeout_ms = 10_000

/** Kept for reading alone: a change that goes out on a connection which is just being closed may have been made or not. */
const keepAliveAgents = {
  http: new HttpAgent({ keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 4 }),
  https: new HttpsAgent({ keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 4 }),
}

/** How names are looked up; that of the system but for tests. */
export type LookupAddresses = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export type SendRemoteRequest = (origin: string, remoteRequest: RemoteRequest) => Promise<IncomingMessage>

/**
 * Asks an origin and resolves with the head of its answer; the body is to be read or destroyed. Never goes anywhere else: a redirect
 * is an answer like any other. Rejects with `remote_unreachable`, or with the reason of the signal.
 */
export function createRequestSender(clock: Clock, resolve: LookupAddresses = lookup): SendRemoteRequest {
  return async (origin, remoteRequest) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendOnce(origin, remoteRequest, clock, resolve)
      } catch (error) {
        if (remoteRequest.signal.aborted) throw remoteRequest.signal.reason
        // A kept connection may have been closed by the other side this very moment.
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
  // Asked to keep the connection, the other side lets what is left of a refused file come, so that its answer is not lost.
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
    // Whatever the environment says.
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
    // Who reads it is told by the stream; nobody else has to care.
    response.on('error', () => {})
    // It may answer before it has the whole body: the rest is not wanted then.
    response.once('end', () => request.writableFinished || request.destroy())
    resolveResponse(response)
  })
  request.once('close', () => {
    timer.cancel()
    idleTimer?.cancel()
    ownAgent?.destroy()
    // Such as after a 101, which is neither an answer nor an error.
    reject(new Error('The connection ended without an answer.'))
  })
  request.on('error', (error) => {
    const isStale = request.reusedSocket && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code))
    reject(isStale ? new StaleConnectionError('stale', { cause: error }) : error)
  })

  const { body } = remoteRequest
  if (body === undefined || body instanceof Uint8Array) request.end(body)
  else
    pipeline(body, request).catch((error: unknown) => {
      // A refusal of our own (too large, too slow) counts for more than what became of the connection.
      if (error instanceof Problem) reject(error)
      request.destroy()
    })
  return promise
}

/** Looks at a connection so often in the time for which it may be silent. */
const idleChecks = 4

/**
 * Calls `tell` once nothing went over a connection for `ms` milliseconds, in either direction: a body that does not get on is as silent
 * as an answer that does not come. The checks are counted, because timers run before data is read: after this process was held up, one
 * check falls due and not all of them.
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
 * http:// only ever connects to an address that was looked at here, whatever the name says the next time it is asked for. Names below
 * localhost are this machine, which no resolver has to know.
 */
const createLookup =
  (resolve: LookupAddresses, isSecure: boolean): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname.endsWith('.localhost') ? 'localhost' : hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const allowed = isSecure ? addresses : addresses.filter((one) => isPrivateAddress(one.address))
      const first = allowed[0]
      if (!first) return callback(new Problem('remote_unreachable', formatInsecureOrigin(hostname)), '')
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
