import type { Clock, Timer } from '../../server/lib/clock.ts'

export interface TestClock extends Clock {
  /** Advances time and runs every timer that is due, in order, each at its own time. */
  advance(ms: number): Promise<void>
  /** Moves time forward in one step, as after the machine was suspended: every timer that fell due meanwhile runs once, at the end. */
  jump(ms: number): Promise<void>
}

interface PendingTimer {
  due: number
  run: () => void
  /** The period of an interval. */
  every_ms?: number
  handle?: NodeJS.Timeout
}

/**
 * A clock that tests control. With `frozen_at` (a date, or milliseconds since 1970) time moves only with `advance`, for pure code. Without it time
 * also passes on its own, so that a platform that does real work (builds, health checks) is not blocked.
 */
export function createTestClock({ frozen_at }: { frozen_at?: string | number } = {}): TestClock {
  const isFrozen = frozen_at !== undefined
  const started_at = isFrozen ? new Date(frozen_at).getTime() : Date.now()
  const origin = performance.now()
  let advanced_ms = 0
  const pending = new Set<PendingTimer>()
  const elapsed = () => (isFrozen ? 0 : performance.now() - origin) + advanced_ms

  const arm = (timer: PendingTimer) => {
    clearTimeout(timer.handle)
    if (!isFrozen) timer.handle = setTimeout(() => fire(timer), Math.max(0, timer.due - elapsed())).unref()
  }
  const fire = (timer: PendingTimer) => {
    clearTimeout(timer.handle)
    if (timer.every_ms === undefined) pending.delete(timer)
    else {
      timer.due = Math.max(timer.due, elapsed() - timer.every_ms) + Math.max(1, timer.every_ms)
      arm(timer)
    }
    timer.run()
  }
  const add = (timer: PendingTimer): Timer => {
    pending.add(timer)
    arm(timer)
    const handle: Timer = {
      cancel() {
        clearTimeout(timer.handle)
        pending.delete(timer)
      },
      // The servers of the process under test keep it alive.
      unref: () => handle,
    }
    return handle
  }

  return {
    // Whole milliseconds as in Date.now(), because rows store differences as integers.
    now: () => Math.floor(started_at + elapsed()),
    monotonic: elapsed,
    setTimeout: (run, ms) => add({ due: elapsed() + ms, run }),
    setInterval: (run, ms) => add({ due: elapsed() + ms, run, every_ms: ms }),
    async advance(ms) {
      const target = elapsed() + ms
      for (;;) {
        const next = [...pending].sort((a, b) => a.due - b.due)[0]
        if (!next || next.due > target) break
        advanced_ms += Math.max(0, next.due - elapsed())
        fire(next)
        await flushCallbacks()
      }
      advanced_ms += Math.max(0, target - elapsed())
      for (const timer of pending) arm(timer)
      await flushCallbacks()
    },
    async jump(ms) {
      advanced_ms += ms
      for (const timer of [...pending].toSorted((a, b) => a.due - b.due)) {
        if (!pending.has(timer)) continue
        if (timer.due <= elapsed()) fire(timer)
        else arm(timer)
        await flushCallbacks()
      }
    },
  }
}

/** Waits until the promise callbacks of a timer have run, and what they scheduled for the next event loop turn. */
const flushCallbacks = () => new Promise((resolve) => setImmediate(resolve))

/** A clock for code that only reads the time. `at` is a date or milliseconds since 1970. */
export const fixedClock = (at: string | number): TestClock => createTestClock({ frozen_at: at })
