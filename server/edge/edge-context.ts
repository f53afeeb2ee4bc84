import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Transport } from './request.ts'
import type { RequestContext } from './response.ts'
import { edgeLimits } from './limits.ts'
import type { MetricsCollector } from './metrics.ts'
import type { RequestLog } from './request-log.ts'
import type { ChallengeTable } from './acme-challenges.ts'
import type { RouteTarget, Router } from './router.ts'
import type { DeadlineTimer, Timeout } from './deadline-timer.ts'

/** The edge's HTTPS listener and redirect setting. */
export interface HttpsState {
  /** The port of the HTTPS listener; 0 if there is none. */
  port: number
  /** Whether plain HTTP is redirected to HTTPS. */
  isRedirectEnabled(): boolean
  /** Plain HTTP connections to the HTTPS port. */
  plaintextConnections: WeakSet<Transport>
}

/** State that the fast path and the node path share. */
export interface EdgeContext {
  router: Router
  deadlines: DeadlineTimer
  log: Log
  clock: Clock
  metrics: MetricsCollector
  requestLog: RequestLog
  newRequestId(): string
  /** `Date: ...\r\n` */
  dateLine(): string
  start_timeout_ms: number
  probe_secret: string | undefined
  /**
   * Connections from listeners other than the main one. `as`: the host name that an address on the network means; `is_probe`: the connection is the
   * platform's own.
   */
  networkConnections: WeakMap<Transport, { as: string | undefined; is_probe: boolean }>
  /** A platform cookie that apps sharing a host name with the dashboard must not receive. */
  private_cookie: string | undefined
  https: HttpsState
  challenges: ChallengeTable
  /** Each connection closes after its next response, or the one that is being sent. */
  isClosing: boolean
  /** Connections on the fast path. */
  fastPathConnections: Set<{ close(): void }>
  /** Active requests by connection, on the node path. */
  requestsByConnection: WeakMap<Transport, ConnectionRequests>
  header_timeout_ms: number
  body_window_ms: number
}

interface ConnectionRequests {
  /** In order. */
  requests: Set<{
    /** Whether it changes nothing (RFC 9110 §9.2.1). */
    readonly isSafe: boolean
    /** Serves it. Called again, it does nothing. */
    beginInTurn(): void
    readonly isComplete: boolean
    /** Rejects a request whose body is malformed: answers with this status unless a response has begun, then closes the connection. */
    refuse(status: number, message: string): void
  }>
  /** Called when the last of the requests is answered. */
  onAllAnswered: (() => void) | undefined
}

const noop = (): void => {}

/**
 * Finds the target of a host name. While the app is starting, the request waits for the route to change. Calls `onTarget` once, immediately if there
 * is nothing to wait for. `hasWaited`: an app was starting, rather than that a worker asked the platform which page an unknown name has. Returns a
 * function that stops waiting.
 */
export function waitForTarget(
  edge: EdgeContext,
  { host, isLoopbackClient }: Pick<RequestContext, 'host' | 'isLoopbackClient'>,
  onTarget: (target: RouteTarget | undefined, hasWaited: boolean) => void,
): () => void {
  const current = edge.router.find(host, isLoopbackClient)
  if (!isStarting(current)) {
    onTarget(current, false)
    return noop
  }
  let hasWaited = isOfProject(current)
  const waitUntil = edge.deadlines.now + edge.start_timeout_ms
  let stopListening = noop
  const check = (): void => {
    const target = edge.router.find(host, isLoopbackClient)
    if (isStarting(target) && edge.deadlines.now < waitUntil) {
      hasWaited ||= isOfProject(target)
      stopListening = edge.router.onceRouteChanged(host, check)
      return
    }
    stop()
    onTarget(target, hasWaited)
  }
  const timeout: Timeout = {
    deadline: waitUntil,
    expire() {
      stop()
      onTarget(edge.router.find(host, isLoopbackClient), hasWaited)
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

const isOfProject = ({ route }: RouteTarget): boolean => route.project_id !== ''

const isStarting = (target: RouteTarget | undefined): target is RouteTarget => target?.route.kind === 'page' && target.route.page === 'starting'

/** Checks that a request body keeps arriving. Only the client's own slowness counts, not time during which the app applies back pressure. */
export class BodyTimeout implements Timeout {
  deadline: number
  bytes = 0
  /** The app applies back pressure or has begun to answer. After an answer has begun, a pause is part of a dialogue. */
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
    if (!this.isSuspended && this.bytes < edgeLimits.body_window_bytes) {
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
