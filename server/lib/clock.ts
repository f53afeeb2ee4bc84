/** Time and timers, injected so that tests can control them. `monotonic` is for durations, leases and limits, because it never jumps. */
export interface Clock {
  /** Milliseconds since 1970, by the wall clock. */
  now(): number
  /** Milliseconds since a fixed but unspecified moment. */
  monotonic(): number
  /** Runs a callback once, after `ms` milliseconds of `monotonic` time. */
  setTimeout(run: () => void, ms: number): Timer
  /** Runs a callback every `ms` milliseconds until the timer is canceled. */
  setInterval(run: () => void, ms: number): Timer
}

export interface Timer {
  /** Canceling twice, or after the last run, does nothing. */
  cancel(): void
  /** Lets the process exit while this timer is pending. */
  unref(): Timer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => timerOf(setTimeout(run, ms)),
  setInterval: (run, ms) => timerOf(setInterval(run, ms)),
}

/** Node clears both kinds of timers with either function. */
function timerOf(handle: NodeJS.Timeout): Timer {
  const timer: Timer = {
    cancel: () => clearTimeout(handle),
    unref() {
      handle.unref()
      return timer
    },
  }
  return timer
}

/** A moment on both clocks. */
export interface Times {
  monotonic: number
  wall: number
}

export const readTimes = (clock: Pick<Clock, 'monotonic' | 'now'>): Times => ({ monotonic: clock.monotonic(), wall: clock.now() })

/** For leases, which must not last longer: the monotonic clock stands still while a machine is suspended, and the wall clock can be set back. */
export const getElapsed = (clock: Pick<Clock, 'monotonic' | 'now'>, since: Times): number =>
  Math.max(clock.monotonic() - since.monotonic, clock.now() - since.wall)

/** Resolves after `ms` milliseconds. Rejects with the signal's reason when the signal aborts first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const abort = () => {
      timer.cancel()
      reject(signal?.reason as Error)
    }
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Aborts with a `TimeoutError` after `ms` milliseconds, as `AbortSignal.timeout` does by the system's clock. */
export function timeoutSignal(clock: Clock, ms: number): AbortSignal {
  const controller = new AbortController()
  clock.setTimeout(() => controller.abort(new DOMException(`Timed out after ${ms} ms.`, 'TimeoutError')), ms).unref()
  return controller.signal
}

/** The result of a job, or undefined if it takes longer than `ms` milliseconds. The job is not canceled. */
export async function withTimeout<T>(clock: Clock, ms: number, job: Promise<T>): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>()
  const timer = clock.setTimeout(() => timeout.resolve(undefined), ms).unref()
  return Promise.race([job, timeout.promise]).finally(() => timer.cancel())
}

/** `2026-01-31T12:00:00.000Z`, the format of every time in the contract. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
