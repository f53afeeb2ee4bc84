import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Handlers } from '../contract/index.ts'
import { limits } from '../contract/limits.ts'
import type { OperationContext } from '../features/context.ts'
import type { IdempotencyStore } from '../features/idempotency-store.ts'
import type { RemoteForwarder } from '../features/remotes.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { describeListenError } from '../lib/listen-error.ts'
import { createApp, mountRoutes } from './app.ts'
import { createCallerLookup } from './authentication.ts'
import type { CredentialLookup } from './authentication.ts'
import { createPublicRoutes } from './public-routes/index.ts'
import type { PublicRouteOptions } from './public-routes/index.ts'
import { createIdempotency } from './idempotency.ts'
import { createRemoteProxy } from './remote-proxy.ts'
import { createPipeline } from './pipeline.ts'
import type { ResolveResource } from './pipeline.ts'
import { createRateLimit } from './rate-limit.ts'
import type { RateLimits } from './rate-limit.ts'
import { openNetworkListener } from './network-listener.ts'
import { createHttpServer, defaultTimeouts } from './http-server.ts'
import type { RequestTimeouts } from './http-server.ts'
import { createStreams } from './sse.ts'
import { createHostRule } from './http-request.ts'

export type { CredentialLookup } from './authentication.ts'
export type { Health } from './public-routes/index.ts'

export interface ApiServerOptions extends PublicRouteOptions {
  handlers: Handlers<OperationContext>
  /**
   * Called before query and body are looked at. Throws the Problem 404 when what the path names is not the caller's to see,
   * so that a bad body to an unknown project is 404 and not 400. Called again while a stream is open, and before an answer is replayed.
   */
  resolveResource?: ResolveResource
  authenticate: CredentialLookup
  /** Whether a token or session is still good; asked every 3 s for those that hold a stream open. */
  isCredentialActive: (credentialId: string) => Promise<boolean>
  /** Calls of other instances, below /remote/{id}; without it there are none. */
  callRemote?: RemoteForwarder
  /** First answers to requests with an idempotency key; without it the header means nothing. */
  idempotencyStore?: IdempotencyStore
  /** Requests a minute; read on every request, so that a changed setting holds at once. */
  rateLimits?: () => RateLimits
  /** Names beside localhost that this instance answers to; without a port they stand for any. */
  hosts?: () => readonly string[]
  /** Addresses and names, with port, by which this machine is known on the network while that is open. */
  networkHosts?: () => readonly string[]
  /** 10 s for the headers, 60 s for a whole request, when absent. */
  timeouts?: RequestTimeouts
  clock: Clock
  log: Log
}

export interface ApiServer {
  /** Opens the listener and resolves with its port. `fallback`: a taken port gives way to the next free one. */
  listen(options: { host: string; port: number; fallback?: boolean }): Promise<number>
  /**
   * Opens a further listener, on an address of the network around this machine. Its Host has to be that address, or one of
   * `hosts`; any other is served to holders of a token. Rejects when the port is taken.
   */
  listenOnNetwork(options: { address: string; port: number }): Promise<{ close(): Promise<void> }>
  /** Stops accepting, ends streams with `retry`, lets requests finish for `grace_ms`, then cuts what is left. */
  close(options?: { grace_ms?: number }): Promise<void>
  /** How many event streams are open now. */
  countOpenStreams(): number
}

/** Ports tried after a taken one before any free one is taken. */
const portAttempts = 20

/** The gate: everything of the platform that speaks HTTP, but for the apps' own edge. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { log, clock } = options
  const timeouts = options.timeouts ?? defaultTimeouts
  let bind = { host: '127.0.0.1', port: 0 }
  const rateLimit = createRateLimit({ clock, limits: options.rateLimits ?? (() => limits.rate) })
  const streams = createStreams({ clock, log })
  const handle = createPipeline({
    routes: mountRoutes({ handlers: options.handlers, streams, publicRoutes: createPublicRoutes(options) }),
    hostRule: createHostRule({ bind: () => bind, hosts: options.hosts ?? (() => []), networkHosts: options.networkHosts ?? (() => []) }),
    rateLimit,
    findCaller: createCallerLookup(options),
    resolveResource: options.resolveResource,
    isCredentialActive: options.isCredentialActive,
    proxyToRemote: options.callRemote && createRemoteProxy({ passage: options.callRemote, streams, clock }),
    idempotency: options.idempotencyStore && createIdempotency(options.idempotencyStore, log),
    clock,
    log,
    body_timeout_ms: timeouts.request_ms,
  })
  const server = createHttpServer(createApp(handle), rateLimit, timeouts)
  // Such as no file descriptor left for a connection: it is said, and the next one may succeed.
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
      const networkListener = await openNetworkListener(server, clock, at)
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
