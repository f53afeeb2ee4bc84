import type { Clock } from '../lib/clock.ts'

/** What has a deadline: a field that its owner sets as often as it likes, at no cost. 0 is none. */
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

/** One coarse timer for all connections. A timer of its own for each request would cost more than reading its head. */
export function createDeadlineTimer(clock: Clock, tick_ms: number): DeadlineTimer {
  const timeouts = new Set<Timeout>()
  const timer = clock.setInterval(() => {
    const now = clock.monotonic()
    // A tick that comes late: we were held up, and heard nobody. What they sent meanwhile is read first, and is not late.
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
