import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Transport } from './request.ts'
import { limits } from './limits.ts'
import type { MetricsCollector } from './metrics.ts'
import type { RouteTarget, Router } from './router.ts'
import type { DeadlineTimer, Timeout } from './deadline-timer.ts'

/** What the gate knows of HTTPS. */
export interface HttpsState {
  /** Of its listener; 0 as long as there is none. */
  port: number
  /** Whether plain HTTP is sent on to it. */
  isRedirectEnabled(): boolean
  /** Connections of plain HTTP that came to its port. */
  plaintextConnections: WeakSet<Transport>
}

/** What both paths share. */
export interface EdgeContext {
  router: Router
  deadlines: DeadlineTimer
  log: Log
  clock: Clock
  metrics: MetricsCollector
  newRequestId(): string
  /** `Date: ...\r\n` */
  dateLine(): string
  start_timeout_ms: number
  probe_secret: string | undefined
  /** Connections that did not come by the main listener. `as`: the name that stands for its address; `is_look`: they are our own. */
  networkConnections: WeakMap<Transport, { as: string | undefined; is_probe: boolean }>
  /** A cookie of the platform's own, kept from apps that share a host name with it. */
  private_cookie: string | undefined
  https: HttpsState
  /** Connections on the plain path. */
  fastPathConnections: Set<{ close(): void }>
  /** Requests under way by connection, on the ordinary path. */
  requestsByConnection: WeakMap<Transport, ConnectionRequests>
  header_timeout_ms: number
  body_window_ms: number
}

interface ConnectionRequests {
  requests: Set<{
    readonly isComplete: boolean
    /** Ends a request whose body is broken: its answer is this one, unless another has begun, and its connection is closed. */
    refuse(status: number, message: string): void
  }>
  /** Called when the last of them is answered. */
  onAllAnswered: (() => void) | undefined
}

const noop = (): void => {}

/**
 * What serves a name now; while its app is starting the request waits for the route to change. `then` is called once, at
 * once when nothing has to be waited for. Returns how to stop waiting.
 */
export function waitForTarget(edge: EdgeContext, host: string, onTarget: (target: RouteTarget | undefined) => void): () => void {
  const current = edge.router.find(host)
  if (!isStarting(current)) {
    onTarget(current)
    return noop
  }
  const waitUntil = edge.deadlines.now + edge.start_timeout_ms
  let stopListening = noop
  const check = (): void => {
    const target = edge.router.find(host)
    if (isStarting(target) && edge.deadlines.now < waitUntil) {
      stopListening = edge.router.onceRouteChanged(host, check)
      return
    }
    stop()
    onTarget(target)
  }
  const timeout: Timeout = {
    deadline: waitUntil,
    expire() {
      stop()
      onTarget(edge.router.find(host))
    },
  }
  const stop = (): void => {
    stopListening()
    edge.deadlines.delete(timeout)
  }
  stopListening = edge.router.onceRouteChanged(host, check)
  edge.deadlines.add(timeout)
  return stop
}

const isStarting = (target: RouteTarget | undefined): boolean => target?.route.kind === 'page' && target.route.page === 'starting'

/** Watches that a request body keeps coming. Only the client's own slowness counts: not while the app holds it up. */
export class BodyTimeout implements Timeout {
  deadline: number
  bytes = 0
  /** The app does not take more now, or has begun to answer: then a pause is a conversation. */
  isSuspended = false
  readonly #deadlines: DeadlineTimer
  readonly #window_ms: number
  readonly #onTimeout: () => void

  constructor(edge: EdgeContext, onTimeout: () => void) {
    this.#deadlines = edge.deadlines
    this.#window_ms = edge.body_window_ms
    this.#onTimeout = onTimeout
    this.deadline = this.#deadlines.now + this.#window_ms
    this.#deadlines.add(this)
  }

  expire(): void {
    if (!this.isSuspended && this.bytes < limits.body_window_bytes) {
      this.stop()
      return this.#onTimeout()
    }
    this.bytes = 0
    this.deadline = this.#deadlines.now + this.#window_ms
  }

  stop(): void {
    this.#deadlines.delete(this)
  }
}
