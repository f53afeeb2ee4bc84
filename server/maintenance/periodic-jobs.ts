import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** What an instance does for itself every hour: safe copies, retention. One after the other, so that a round is never felt. */
export interface PeriodicJobs {
  /** Something that is done soon after the start, and every hour from then on. `signal` is aborted when the platform ends. */
  add(name: string, run: (signal: AbortSignal) => Promise<unknown>): void
  start(): void
  /** Ends what is under way and waits for it. */
  close(): Promise<void>
}

export const jobInterval_ms = 3_600_000
/** Looked at this often, by the wall clock: a machine that slept makes up for it when it wakes. */
const checkInterval_ms = 60_000
/** The start itself has the machine first. */
const initialDelay_ms = 5_000

export function createPeriodicJobs(options: { clock: Clock; log: Log }): PeriodicJobs {
  const { clock, log } = options
  const closing = new AbortController()
  const jobs: { name: string; run: (signal: AbortSignal) => Promise<unknown>; last: number }[] = []
  let running: Promise<void> | undefined
  let timers: Timer[] = []

  const runDueJobs = async (): Promise<void> => {
    for (const job of jobs) {
      const sinceLast = clock.now() - job.last
      // A clock that was set back does not stop the rounds.
      if (closing.signal.aborted || (sinceLast >= 0 && sinceLast < jobInterval_ms)) continue
      job.last = clock.now()
      try {
        await job.run(closing.signal)
      } catch (error) {
        if (!closing.signal.aborted) log.warn('round_failed', { round: job.name, error })
      }
    }
  }
  const checkJobs = () => {
    running ??= runDueJobs().finally(() => (running = undefined))
  }

  return {
    add: (name, run) => void jobs.push({ name, run, last: -Infinity }),
    start() {
      timers = [clock.setTimeout(checkJobs, initialDelay_ms).unref(), clock.setInterval(checkJobs, checkInterval_ms).unref()]
    },
    async close() {
      closing.abort()
      for (const timer of timers) timer.cancel()
      await running
    },
  }
}
