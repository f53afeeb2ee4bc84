import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** Hourly jobs of an instance, such as safe copies and retention. They run one after the other to limit the load. */
export interface PeriodicJobs {
  /** Adds a job that runs soon after startup and then every hour. `signal` aborts when the platform ends. */
  add(name: string, run: (signal: AbortSignal) => Promise<unknown>): void
  start(): void
  /** Aborts the running job and waits for its end. */
  close(): Promise<void>
}

export const jobInterval_ms = 3_600_000
/** The interval of the check, by wall-clock time: a machine that slept runs missed jobs when it wakes. */
const checkInterval_ms = 60_000
/** Delays the first run until startup is complete. */
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
      // If the clock was set back, the job runs now.
      if (closing.signal.aborted || (sinceLast >= 0 && sinceLast < jobInterval_ms)) continue
      job.last = clock.now()
      try {
        await job.run(closing.signal)
      } catch (error) {
        if (!closing.signal.aborted) log.warn('periodic_job_failed', { job: job.name, error })
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
