import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** What an instance does for itself every hour: safe copies, retention. One after the other, so that a round is never felt. */
export interface Rounds {
  /** Something that is done soon after the start, and every hour from then on. `signal` is aborted when the platform ends. */
  add(name: string, run: (signal: AbortSignal) => Promise<unknown>): void
  start(): void
  /** Ends what is under way and waits for it. */
  close(): Promise<void>
}

export const round_ms = 3_600_000
/** Looked at this often, by the wall clock: a machine that slept makes up for it when it wakes. */
const look_ms = 60_000
/** The start itself has the machine first. */
const first_ms = 5_000

export function createRounds(options: { clock: Clock; log: Log }): Rounds {
  const { clock, log } = options
  const ended = new AbortController()
  const tasks: { name: string; run: (signal: AbortSignal) => Promise<unknown>; last: number }[] = []
  let going: Promise<void> | undefined
  let timers: Timer[] = []

  const round = async (): Promise<void> => {
    for (const task of tasks) {
      const sinceLast = clock.now() - task.last
      // A clock that was set back does not stop the rounds.
      if (ended.signal.aborted || (sinceLast >= 0 && sinceLast < round_ms)) continue
      task.last = clock.now()
      try {
        await task.run(ended.signal)
      } catch (error) {
        if (!ended.signal.aborted) log.warn('round_failed', { round: task.name, error })
      }
    }
  }
  const look = () => {
    going ??= round().finally(() => (going = undefined))
  }

  return {
    add: (name, run) => void tasks.push({ name, run, last: -Infinity }),
    start() {
      timers = [clock.setTimeout(look, first_ms).unref(), clock.setInterval(look, look_ms).unref()]
    },
    async close() {
      ended.abort()
      for (const timer of timers) timer.cancel()
      await going
    },
  }
}
