import { setTimeout as delay } from 'node:timers/promises'

/** One bound for all of a test's waiting: that of the runner, less the time to say what was waited for (ms). */
export const testTimeout_ms = 240_000
const reporting_ms = 5_000
let deadline = Infinity

/** Called by the set-up of every suite as each test begins, with the test's own bound if it has one. */
export function startDeadline(timeout_ms = testTimeout_ms): void {
  deadline = performance.now() + timeout_ms - reporting_ms
}

/** The first pauses between two questions are short: most states come at once. */
const firstPause_ms = 5

/**
 * Asks again until there is an answer: `ask` returns undefined, or throws, while the state is not there yet. The bound is the
 * runner's own; past it the error names what was waited for and what was last seen.
 */
export async function until<T>(check: () => Promise<T | undefined> | T | undefined, options: { what: string; every_ms?: number }): Promise<T> {
  const giveUpAt = deadline === Infinity ? performance.now() + testTimeout_ms - reporting_ms : deadline
  for (let pause_ms = firstPause_ms; ; pause_ms *= 2) {
    let lastError = 'nothing'
    try {
      const value = await check()
      if (value !== undefined) return value
    } catch (error) {
      lastError = String(error)
    }
    if (performance.now() > giveUpAt) throw new Error(`waited in vain for ${options.what}; last seen: ${lastError}`)
    await delay(Math.min(pause_ms, options.every_ms ?? 50))
  }
}
