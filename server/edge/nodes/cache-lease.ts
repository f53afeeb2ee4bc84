import { lease_ms } from './protocol.ts'

interface Moment {
  monotonic_ms: number
  wall_ms: number
}

const readClocks = (): Moment => ({ monotonic_ms: performance.now(), wall_ms: Date.now() })

/**
 * For how long the edge of a node may serve cached responses (`lease_ms`). It counts on both clocks: one stands still while the machine is suspended, and
 * the other may be set back.
 */
export function createCacheLease(now = readClocks) {
  const asked = new Map<number, Moment>()
  let count = 0
  let since: Moment | undefined

  return {
    /** The id of a request to renew it. */
    ask(): number {
      asked.set(++count, now())
      return count
    },
    /** The answer to a request: the lease counts from when that was sent. */
    renew(id: number): void {
      since = asked.get(id) ?? since
      for (const earlier of asked.keys()) if (earlier <= id) asked.delete(earlier)
    },
    end(): void {
      since = undefined
      asked.clear()
    },
    isHeld(): boolean {
      if (!since) return false
      const { monotonic_ms, wall_ms } = now()
      return monotonic_ms - since.monotonic_ms < lease_ms && wall_ms - since.wall_ms < lease_ms
    },
  }
}
