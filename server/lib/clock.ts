/** Time, handed in so that tests can turn it. `monotonic` is for durations, leases and limits: it never jumps. */
export interface Clock {
  /** Milliseconds since 1970, by the wall. */
  now(): number
  /** Milliseconds since some fixed moment. */
  monotonic(): number
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

/** `2026-01-31T12:00:00.000Z`, as the contract writes every time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
