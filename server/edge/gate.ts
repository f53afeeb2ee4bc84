import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Wire } from './asked.ts'
import type { Secure } from './elsewhere.ts'
import { limits } from './limits.ts'
import type { Meter } from './meter.ts'
import type { Instance, Router } from './router.ts'
import type { Sweep, Timed } from './sweep.ts'

/** What both paths share. */
export interface Gate {
  router: Router
  sweep: Sweep
  log: Log
  clock: Clock
  meter: Meter
  newId(): string
  /** `Date: ...\r\n` */
  dateLine(): string
  starting_ms: number
  look_secret: string | undefined
  /** Connections that did not come by the main listener. `as`: the name that stands for its address; `is_look`: they are our own. */
  network: WeakMap<Wire, { as: string | undefined; is_look: boolean }>
  /** A cookie of the platform's own, kept from apps that share a host name with it. */
  private_cookie: string | undefined
  secure: Secure
  /** Connections on the plain path. */
  plain: Set<{ retire(): void }>
  /** Requests under way by connection, on the ordinary path. */
  under_way: WeakMap<Wire, UnderWay>
  head_ms: number
  body_window_ms: number
}

interface UnderWay {
  requests: Set<{
    readonly isComplete: boolean
    /** Ends a request whose body is broken: its answer is this one, unless another has begun, and its connection is closed. */
    refuse(status: number, sentence: string): void
  }>
  /** Called when the last of them is answered. */
  answered: (() => void) | undefined
}

const nothing = (): void => {}

/**
 * What serves a name now; while its app is starting the request waits for the route to change. `then` is called once, at
 * once when nothing has to be waited for. Returns how to stop waiting.
 */
export function settle(gate: Gate, host: string, then: (instance: Instance | undefined) => void): () => void {
  const found = gate.router.find(host)
  if (!isStarting(found)) {
    then(found)
    return nothing
  }
  const until = gate.sweep.now + gate.starting_ms
  let forget = nothing
  const look = (): void => {
    const instance = gate.router.find(host)
    if (isStarting(instance) && gate.sweep.now < until) {
      forget = gate.router.onceChanged(host, look)
      return
    }
    stop()
    then(instance)
  }
  const timed: Timed = {
    deadline: until,
    expire() {
      stop()
      then(gate.router.find(host))
    },
  }
  const stop = (): void => {
    forget()
    gate.sweep.delete(timed)
  }
  forget = gate.router.onceChanged(host, look)
  gate.sweep.add(timed)
  return stop
}

const isStarting = (instance: Instance | undefined): boolean => instance?.route.kind === 'page' && instance.route.page === 'starting'

/** Watches that a request body keeps coming. Only the client's own slowness counts: not while the app holds it up. */
export class BodyGuard implements Timed {
  deadline: number
  bytes = 0
  /** The app does not take more now, or has begun to answer: then a pause is a conversation. */
  excused = false
  readonly #sweep: Sweep
  readonly #window_ms: number
  readonly #tooSlow: () => void

  constructor(gate: Gate, tooSlow: () => void) {
    this.#sweep = gate.sweep
    this.#window_ms = gate.body_window_ms
    this.#tooSlow = tooSlow
    this.deadline = this.#sweep.now + this.#window_ms
    this.#sweep.add(this)
  }

  expire(): void {
    if (!this.excused && this.bytes < limits.body_window_bytes) {
      this.stop()
      return this.#tooSlow()
    }
    this.bytes = 0
    this.deadline = this.#sweep.now + this.#window_ms
  }

  stop(): void {
    this.#sweep.delete(this)
  }
}
