import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { limits } from '../contract/limits.ts'
import type { BeginChange } from '../features/activity-recorder.ts'
import type { IdempotencyStore } from '../features/idempotency-store.ts'
import type { RemoteForwarder } from '../features/remotes.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { describeListenError } from '../lib/listen-error.ts'
import { createApp } from './app.ts'
import type { ClaimedCommand } from '../features/command-tickets.ts'
import { createCallerLookup } from './authentication.ts'
import { createCommandSockets } from './command-sockets.ts'
import { createStreamAccess } from './operation-handler.ts'
import type { CredentialLookup } from './authentication.ts'
import { createPublicRoutes } from './public-routes/index.ts'
import type { PublicRouteOptions } from './public-routes/index.ts'
import { createIdempotency } from './idempotency.ts'
import { createRemoteProxy } from './remote-proxy.ts'
import type { OperationHandlers } from '../features/context.ts'
import type { ResolveResource } from '../features/resources.ts'
import { createRateLimit } from './rate-limit.ts'
import type { RateLimits } from './rate-limit.ts'
import { openApiNetworkListener } from './network-listener.ts'
import { createHttpServer, defaultTimeouts } from './http-server.ts'
import type { RequestTimeouts } from './http-server.ts'
import { createStreams } from './sse.ts'
import { createHostRule } from './http-request.ts'

export type { CredentialLookup } from './authentication.ts'
export type { Health } from './public-routes/index.ts'

export interface ApiServerOptions extends PublicRouteOptions {
  handlers: OperationHandlers
  /**
   * Called before query and body are validated. Throws a 404 if the caller may not see the resource, so that an invalid body for an unknown
   * project is a 404 and not a 400. Called again while a stream is open, and before a response is replayed.
   */
  resolveResource?: ResolveResource
  authenticate: CredentialLookup
  /** Whether a token or session is still valid. Checked every 3 s for open streams. */
  isCredentialActive: (credentialId: string) => Promise<boolean>
  /** Forwards requests under /remote/{id} to other instances. */
  callRemote?: RemoteForwarder
  /** Redeems the ticket of a one-off command; undefined: unknown, expired or used. */
  claimCommand?: (ticket: string) => ClaimedCommand | undefined
  /** Stores responses to requests with an idempotency key; without it the header is ignored. */
  idempotencyStore?: IdempotencyStore
  /** Throws while nothing may be changed. */
  assertWritable?: () => void
  /** Records changes in the activity log. */
  beginChange?: BeginChange
  /** Requests per minute; read on every request, so that a changed setting applies at once. */
  rateLimits?: () => RateLimits
  /** Additional hostnames of this instance; a name without a port matches any port. */
  hosts?: () => readonly string[]
  /** Addresses and names with port of this machine on the local network while network access is open. */
  networkHosts?: () => readonly string[]
  /** Default: 10 s for the headers, 60 s for the whole request. */
  timeouts?: RequestTimeouts
  clock: Clock
  log: Log
}

export interface ApiServer {
  /** Opens the listener and resolves with its port. `fallback`: use the next free port if this one is in use. */
  listen(options: { host: string; port: number; fallback?: boolean }): Promise<number>
  /**
   * Opens an additional listener on an address of the local network. Its Host must be that address or one of `hosts`; other hosts need a
   * bearer token. Rejects if the port is in use.
   */
  listenOnNetwork(options: { address: string; port: number }): Promise<{ close(): Promise<void> }>
  /** Stops accepting, ends streams with `retry`, lets requests finish for `grace_ms`, then cuts what is left. */
  close(options?: { grace_ms?: number }): Promise<void>
  /** The number of open streams. */
  countOpenStreams(): number
}

/** Number of ports to try before using any free port. */
const portAttempts = 20

/** The API server: API, dashboard and webhooks. The apps are served by the edge. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { log, clock } = options
  const timeouts = options.timeouts ?? defaultTimeouts
  let bind = { host: '127.0.0.1', port: 0 }
  const rateLimit = createRateLimit({ clock, limits: options.rateLimits ?? (() => limits.rate) })
  const streams = createStreams({ clock, log })
  const hostRule = createHostRule({ bind: () => bind, hosts: options.hosts ?? (() => []), networkHosts: options.networkHosts ?? (() => []) })
  const { claimCommand } = options
  const acceptSocket =
    claimCommand &&
    createCommandSockets({
      claimCommand,
      createAccess: (caller, { id, slug }) =>
        createStreamAccess({ isCredentialActive: options.isCredentialActive, resolveResource: options.resolveResource }, caller, { slug }, id),
      hostRule,
      rateLimit,
      streams,
      log,
    })
  const app = createApp({
    handlers: options.handlers,
    beginChange: options.beginChange,
    assertWritable: options.assertWritable,
    streams,
    publicRoutes: createPublicRoutes(options),
    hostRule,
    rateLimit,
    findCaller: createCallerLookup(options),
    resolveResource: options.resolveResource,
    isCredentialActive: options.isCredentialActive,
    proxyToRemote: options.callRemote && createRemoteProxy({ callRemote: options.callRemote, streams, clock }),
    idempotency: options.idempotencyStore && createIdempotency(options.idempotencyStore, log),
    clock,
    log,
    body_timeout_ms: timeouts.request_ms,
  })
  const server = createHttpServer(app, rateLimit, timeouts, acceptSocket)
  // For example, no file descriptor is left for a connection. The next connection may succeed.
  server.on('error', (error) => {
    if (server.listening) log.error('listener_failed', { error })
  })

  const networkListeners = new Set<{ close(): Promise<void> }>()

  async function listenOn(host: string, port: number): Promise<void> {
    server.listen(port, host)
    await once(server, 'listening')
  }

  return {
    async listen({ host, port, fallback = false }) {
      const ports =
        port === 0 || !fallback ? [port] : [...Array.from({ length: portAttempts }, (_, i) => port + i).filter((next) => next <= 65_535), 0]
      for (const next of ports) {
        try {
          await listenOn(host, next)
          break
        } catch (error) {
          if (describeListenError(error) === undefined || next === ports.at(-1)) throw error
        }
      }
      bind = { host, port: (server.address() as AddressInfo).port }
      return bind.port
    },

    async listenOnNetwork(at) {
      const networkListener = await openApiNetworkListener(server, clock, at)
      networkListeners.add(networkListener)
      return {
        close() {
          networkListeners.delete(networkListener)
          return networkListener.close()
        },
      }
    },

    async close({ grace_ms = 5000 } = {}) {
      if (!server.listening) return
      for (const networkListener of networkListeners) void networkListener.close()
      const closed = once(server, 'close')
      server.close()
      streams.endAll()
      streams.close()
      // A connection whose last answer has gone out is idle, and would be kept for the next request.
      const idleTimer = systemClock.setInterval(() => server.closeIdleConnections(), 20)
      const cutTimer = clock.setTimeout(() => server.closeAllConnections(), grace_ms)
      await closed
      idleTimer.cancel()
      cutTimer.cancel()
    },

    countOpenStreams: () => streams.size,
  }
}
