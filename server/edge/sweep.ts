import type { Clock } from '../lib/clock.ts'

/** What has a deadline: a field that its owner sets as often as it likes, at no cost. 0 is none. */
export interface Timed {
  deadline: number
  expire(): void
}

export interface Sweep {
  /** Coarse monotonic milliseconds, as of the last tick. */
  now: number
  add(timed: Timed): void
  delete(timed: Timed): void
  stop(): void
}

/** One coarse timer for all connections. A timer of its own for each request would cost more than reading its head. */
export function createSweep(clock: Clock, every_ms: number): Sweep {
  const all = new Set<Timed>()
  const timer = clock.setInterval(() => {
    const now = clock.monotonic()
    // A tick that comes late: we were held up, and heard nobody. What they sent meanwhile is read first, and is not late.
    const held_ms = Math.max(0, now - sweep.now - every_ms)
    sweep.now = now
    for (const timed of all) {
      if (timed.deadline === 0) continue
      timed.deadline += held_ms
      if (timed.deadline > now) continue
      timed.deadline = 0
      timed.expire()
    }
  }, every_ms)
  timer.unref()
  const sweep: Sweep = {
    now: clock.monotonic(),
    add: (timed) => void all.add(timed),
    delete: (timed) => void all.delete(timed),
    stop() {
      timer.cancel()
      all.clear()
    },
  }
  return sweep
}
