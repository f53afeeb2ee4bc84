import { type Clock, getElapsed, readTimes, systemClock, type Times } from '../../lib/clock.ts'
import { lease_ms } from './protocol.ts'

/** For how long the edge of a node may serve cached responses (`lease_ms`). */
export function createCacheLease(clock: Pick<Clock, 'monotonic' | 'now'> = systemClock) {
  const asked = new Map<number, Times>()
  let count = 0
  let since: Times | undefined

  return {
    /** The id of a request to renew it. */
    ask(): number {
      asked.set(++count, readTimes(clock))
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
    isHeld: (): boolean => since !== undefined && getElapsed(clock, since) < lease_ms,
  }
}
