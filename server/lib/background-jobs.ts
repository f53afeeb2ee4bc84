import type { Log } from './log.ts'

/** Background jobs. Each has a name for the log, and none outlives `close`. */
export interface BackgroundJobs {
  /** Starts a job. A failure is logged as `job_failed` with the job's name and the fields of `subject`. */
  start(name: string, subject: Record<string, unknown>, work: () => Promise<unknown>): void
  /** Resolves when all jobs have ended. */
  close(): Promise<void>
}

export function createBackgroundJobs(log: Log): BackgroundJobs {
  const running = new Set<Promise<unknown>>()
  return {
    start(name, subject, work) {
      const job = work()
        .catch((error: unknown) => log.warn('job_failed', { job: name, ...subject, error }))
        .finally(() => running.delete(job))
      running.add(job)
    },
    async close() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
