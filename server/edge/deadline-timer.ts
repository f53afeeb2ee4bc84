import type { Clock } from '../lib/clock.ts'

/** Something with a deadline. Its owner sets `deadline` as often as it likes, at no cost; 0 means none. */
export interface Timeout {
  deadline: number
  expire(): void
}

export interface DeadlineTimer {
  /** Coarse monotonic milliseconds, as of the last tick. */
  now: number
  add(timeout: Timeout): void
  delete(timeout: Timeout): void
  stop(): void
}

/** One coarse timer for all connections, because a timer per request would cost more than reading the request's head. */
export function createDeadlineTimer(clock: Clock, tick_ms: number): DeadlineTimer {
  const timeouts = new Set<Timeout>()
  const timer = clock.setInterval(() => {
    const now = clock.monotonic()
    // If a tick is late, the event loop was blocked and read no input. Every deadline moves by the delay, so that input that has already arrived is
    // not counted as late.
    const delay_ms = Math.max(0, now - deadlines.now - tick_ms)
    deadlines.now = now
    for (const timeout of timeouts) {
      if (timeout.deadline === 0) continue
      timeout.deadline += delay_ms
      if (timeout.deadline > now) continue
      timeout.deadline = 0
      timeout.expire()
    }
  }, tick_ms)
  timer.unref()
  const deadlines: DeadlineTimer = {
    now: clock.monotonic(),
    add: (timeout) => void timeouts.add(timeout),
    delete: (timeout) => void timeouts.delete(timeout),
    stop() {
      timer.cancel()
      timeouts.clear()
    },
  }
  return deadlines
}
