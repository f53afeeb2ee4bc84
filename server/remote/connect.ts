import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Problem } from '../contract/errors.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import { explain } from './explain.ts'
import { bare, inTheClear, isNear } from './origin.ts'
import { trusted } from './trust.ts'

interface Question {
  method: string
  /** Path and query. */
  path: string
  headers: OutgoingHttpHeaders
  body?: Uint8Array | AsyncIterable<Uint8Array> | undefined
  /** How long it may think about its answer once it has the whole question. */
  head_ms: number
  /** How long it may be silent in the middle of an answer. */
  idle_ms: number
  signal: AbortSignal
}

/** Connection, name and TLS together. */
const connect_ms = 10_000

/** Kept for reading alone: a change that goes out on a connection which is just being closed may have been made or not. */
const agents = {
  http: new HttpAgent({ keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 4 }),
  https: new HttpsAgent({ keepAlive: true, keepAliveMsecs: 30_000, maxFreeSockets: 4 }),
}

/** How names are looked up; that of the system but for tests. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void

export type Ask = (origin: string, question: Question) => Promise<IncomingMessage>

/**
 * Asks an origin and resolves with the head of its answer; the body is to be read or destroyed. Never goes anywhere else: a redirect
 * is an answer like any other. Rejects with `remote_unreachable`, or with the reason of the signal.
 */
export function createAsk(clock: Clock, resolve: Resolve = lookup): Ask {
  return async (origin, question) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await askOnce(origin, question, clock, resolve)
      } catch (error) {
        if (question.signal.aborted) throw question.signal.reason
        // A kept connection may have been closed by the other side this very moment.
        if (error instanceof Stale && attempt < 3) continue
        if (error instanceof Problem) throw error
        throw new Problem('remote_unreachable', explain(error instanceof Stale ? error.cause : error, new URL(origin).host))
      }
    }
  }
}

class Stale extends Error {}

class TooLate extends Error {
  readonly code = 'ETIMEDOUT'
}

function askOnce(origin: string, question: Question, clock: Clock, resolve: Resolve): Promise<IncomingMessage> {
  const url = new URL(origin)
  const isSecure = url.protocol === 'https:'
  const { promise, resolve: settle, reject } = Promise.withResolvers<IncomingMessage>()
  // Asked to keep the connection, the other side lets what is left of a refused file come, so that its answer is not lost.
  const fresh = question.method === 'GET' ? undefined : new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const agent = fresh ?? (isSecure ? agents.https : agents.http)
  const request: ClientRequest = (isSecure ? requestHttps : requestHttp)({
    host: bare(url.hostname),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    method: question.method,
    path: question.path,
    headers: question.headers,
    agent,
    lookup: lookupBy(resolve, isSecure),
    insecureHTTPParser: false,
    maxHeaderSize: 16 * 1024,
    signal: question.signal,
    // Whatever the environment says.
    ...(isSecure ? { rejectUnauthorized: true, secureContext: trusted() } : {}),
  })
  let timer = clock.setTimeout(() => request.destroy(new TooLate('no connection')), connect_ms)
  let silence: Timer | undefined

  request.once('socket', (socket) => {
    const connected = () => timer.cancel()
    if (request.reusedSocket) connected()
    else socket.once(isSecure ? 'secureConnect' : 'connect', connected)
    silence = watchSilence(clock, socket, question.head_ms, () => request.destroy(new TooLate('silence')))
  })
  request.once('finish', () => {
    timer.cancel()
    timer = clock.setTimeout(() => request.destroy(new TooLate('no answer')), question.head_ms)
  })
  request.once('response', (answer) => {
    timer.cancel()
    silence?.cancel()
    silence = watchSilence(clock, answer.socket, question.idle_ms, () => answer.destroy(new TooLate('silence')))
    // Who reads it is told by the stream; nobody else has to care.
    answer.on('error', () => {})
    // It may answer before it has the whole body: the rest is not wanted then.
    answer.once('end', () => request.writableFinished || request.destroy())
    settle(answer)
  })
  request.once('close', () => {
    timer.cancel()
    silence?.cancel()
    fresh?.destroy()
    // Such as after a 101, which is neither an answer nor an error.
    reject(new Error('The connection ended without an answer.'))
  })
  request.on('error', (error) => {
    const isStale = request.reusedSocket && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code))
    reject(isStale ? new Stale('stale', { cause: error }) : error)
  })

  const { body } = question
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
const silenceChecks = 4

/**
 * Calls `tell` once nothing went over a connection for `ms` milliseconds, in either direction: a body that does not get on is as silent
 * as an answer that does not come. The checks are counted, because timers run before data is read: after this process was held up, one
 * check falls due and not all of them.
 */
function watchSilence(clock: Clock, socket: Socket, ms: number, tell: () => void): Timer {
  const transferred = () => socket.bytesRead + socket.bytesWritten
  let before = transferred()
  let unchanged = 0
  const timer = clock.setInterval(() => {
    const now = transferred()
    unchanged = now === before ? unchanged + 1 : 0
    before = now
    if (unchanged < silenceChecks) return
    setImmediate(() => {
      if (transferred() !== now) return
      timer.cancel()
      tell()
    })
  }, ms / silenceChecks)
  return timer
}

/**
 * http:// only ever connects to an address that was looked at here, whatever the name says the next time it is asked for. Names below
 * localhost are this machine, which no resolver has to know.
 */
const lookupBy =
  (resolve: Resolve, isSecure: boolean): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname.endsWith('.localhost') ? 'localhost' : hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const good = isSecure ? found : found.filter((one) => isNear(one.address))
      const first = good[0]
      if (!first) return callback(new Problem('remote_unreachable', inTheClear(hostname)), '')
      if (options.all) callback(null, good)
      else callback(null, first.address, first.family)
    })
