import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Handlers } from '../contract/index.ts'
import { limits } from '../contract/limits.ts'
import type { Context } from '../features/context.ts'
import type { KeptAnswers } from '../features/kept-answers.ts'
import type { Passage } from '../features/remotes.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { whyPortRefused } from '../lib/port-refused.ts'
import { createApp, mount } from './app.ts'
import { createCallerLookup } from './caller.ts'
import type { Authenticate } from './caller.ts'
import { createDoors } from './doors.ts'
import type { DoorOptions } from './doors.ts'
import { createIdempotency } from './idempotency.ts'
import { createPassing } from './passage.ts'
import { createPipeline } from './pipeline.ts'
import type { Resolve } from './pipeline.ts'
import { createRateLimit } from './rate-limit.ts'
import type { RateLimits } from './rate-limit.ts'
import { openOnNetwork } from './network.ts'
import { createHttpServer, usualPatience } from './server.ts'
import type { Patience } from './server.ts'
import { createStreams } from './sse.ts'
import { createHostRule } from './transport.ts'

export type { Authenticate } from './caller.ts'
export type { Health } from './doors.ts'

export interface GateOptions extends DoorOptions {
  handlers: Handlers<Context>
  /**
   * Called before query and body are looked at. Throws the Problem 404 when what the path names is not the caller's to see,
   * so that a bad body to an unknown project is 404 and not 400. Called again while a stream is open, and before an answer is replayed.
   */
  resolve?: Resolve
  authenticate: Authenticate
  /** Whether a token or session is still good; asked every 3 s for those that hold a stream open. */
  credentialAlive: (credentialId: string) => Promise<boolean>
  /** Calls of other instances, below /remote/{id}; without it there are none. */
  passage?: Passage
  /** First answers to requests with an idempotency key; without it the header means nothing. */
  keptAnswers?: KeptAnswers
  /** Requests a minute; read on every request, so that a changed setting holds at once. */
  rateLimits?: () => RateLimits
  /** Names beside localhost that this instance answers to; without a port they stand for any. */
  hosts?: () => readonly string[]
  /** Addresses and names, with port, by which this machine is known on the network while that is open. */
  networkHosts?: () => readonly string[]
  /** 10 s for the headers, 60 s for a whole request, when absent. */
  patience?: Patience
  clock: Clock
  log: Log
}

export interface Gate {
  /** Opens the listener and resolves with its port. `fallback`: a taken port gives way to the next free one. */
  listen(options: { host: string; port: number; fallback?: boolean }): Promise<number>
  /**
   * Opens a further listener, on an address of the network around this machine. Its Host has to be that address, or one of
   * `hosts`; any other is served to holders of a token. Rejects when the port is taken.
   */
  open(options: { address: string; port: number }): Promise<{ close(): Promise<void> }>
  /** Stops accepting, ends streams with `retry`, lets requests finish for `grace_ms`, then cuts what is left. */
  close(options?: { grace_ms?: number }): Promise<void>
  /** How many event streams are open now. */
  openStreams(): number
}

/** Ports tried after a taken one before any free one is taken. */
const nextPorts = 20

/** The gate: everything of the platform that speaks HTTP, but for the apps' own edge. */
export function createGate(options: GateOptions): Gate {
  const { log, clock } = options
  const patience = options.patience ?? usualPatience
  let bind = { host: '127.0.0.1', port: 0 }
  const rate = createRateLimit({ clock, limits: options.rateLimits ?? (() => limits.rate) })
  const streams = createStreams({ clock, log })
  const answer = createPipeline({
    routes: mount({ handlers: options.handlers, streams, doors: createDoors(options) }),
    hosts: createHostRule({ bind: () => bind, hosts: options.hosts ?? (() => []), networkHosts: options.networkHosts ?? (() => []) }),
    rate,
    findCaller: createCallerLookup(options),
    resolve: options.resolve,
    credentialAlive: options.credentialAlive,
    pass: options.passage && createPassing({ passage: options.passage, streams, clock }),
    idempotency: options.keptAnswers && createIdempotency(options.keptAnswers, log),
    clock,
    log,
    patience_ms: patience.request_ms,
  })
  const server = createHttpServer(createApp(answer), rate, patience)
  // Such as no file descriptor left for a connection: it is said, and the next one may succeed.
  server.on('error', (error) => {
    if (server.listening) log.error('listener_failed', { error })
  })

  const openings = new Set<{ close(): Promise<void> }>()

  async function open(host: string, port: number): Promise<void> {
    server.listen(port, host)
    await once(server, 'listening')
  }

  return {
    async listen({ host, port, fallback = false }) {
      const ports = port === 0 || !fallback ? [port] : [...Array.from({ length: nextPorts }, (_, i) => port + i).filter((next) => next <= 65_535), 0]
      for (const next of ports) {
        try {
          await open(host, next)
          break
        } catch (error) {
          if (whyPortRefused(error) === undefined || next === ports.at(-1)) throw error
        }
      }
      bind = { host, port: (server.address() as AddressInfo).port }
      return bind.port
    },

    async open(at) {
      const opening = await openOnNetwork(server, clock, at)
      openings.add(opening)
      return {
        close() {
          openings.delete(opening)
          return opening.close()
        },
      }
    },

    async close({ grace_ms = 5000 } = {}) {
      if (!server.listening) return
      for (const opening of openings) void opening.close()
      const closed = once(server, 'close')
      server.close()
      streams.endAll()
      streams.close()
      // A connection whose last answer has gone out is idle, and would be kept for the next request.
      const sweep = systemClock.setInterval(() => server.closeIdleConnections(), 20)
      const cut = clock.setTimeout(() => server.closeAllConnections(), grace_ms)
      await closed
      sweep.cancel()
      cut.cancel()
    },

    openStreams: () => streams.size,
  }
}
