import { setTimeout as delay } from 'node:timers/promises'

/** The total time limit for waiting in a test: the runner's limit, less the time to report what was waited for (ms). */
export const testTimeout_ms = 240_000
/** Of tests that show parts of the dashboard. They wait for nothing outside of themselves. */
export const partTimeout_ms = 60_000
const reporting_ms = 5_000
let deadline = Infinity

/** Called by the setup of every suite when a test begins, with the test's own timeout if it has one. */
export function startDeadline(timeout_ms = testTimeout_ms): void {
  deadline = performance.now() + timeout_ms - reporting_ms
}

/** The first pauses are short, because most states are reached immediately. Later ones grow with the wait, because every look costs the platform time. */
const firstPause_ms = 5
const growingPause_ms = (waited_ms: number) => Math.min(Math.max(100, waited_ms / 10), 250)

/**
 * Retries until there is a result. `check` returns undefined or throws while the state is not reached. On timeout the error says what was waited for
 * and what was last observed.
 */
export async function until<T>(check: () => Promise<T | undefined> | T | undefined, options: { what: string; every_ms?: number }): Promise<T> {
  const startedAt = performance.now()
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
    await delay(Math.min(pause_ms, options.every_ms ?? growingPause_ms(performance.now() - startedAt)))
  }
}
