import { useSyncExternalStore } from 'react'

interface Clock {
  subscribe(onTick: () => void): () => void
  now(): number
}

let latest = Date.now()
const clocks = new Map<number, Clock>()
const stoppedClock: Clock = { subscribe: () => () => undefined, now: () => latest }

/**
 * The current time, updated while the page is visible. `every_ms` null: not updated. Components with the same interval share a timer and a render.
 */
export function useNow(every_ms: number | null): number {
  const clock = every_ms === null ? stoppedClock : sharedClock(every_ms)
  return useSyncExternalStore(clock.subscribe, clock.now)
}

function sharedClock(every_ms: number): Clock {
  let clock = clocks.get(every_ms)
  if (!clock) clocks.set(every_ms, (clock = createClock(every_ms)))
  return clock
}

function createClock(every_ms: number): Clock {
  const listeners = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  let now = 0
  const tick = () => {
    if (document.visibilityState !== 'visible') return
    latest = now = Date.now()
    for (const listener of listeners) listener()
  }
  return {
    subscribe(listener) {
      listeners.add(listener)
      if (listeners.size === 1) {
        timer = setInterval(tick, every_ms)
        document.addEventListener('visibilitychange', tick)
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearInterval(timer)
        document.removeEventListener('visibilitychange', tick)
      }
    },
    now() {
      // A stopped clock is updated when it is read.
      if (listeners.size === 0 && Date.now() - now >= Math.min(every_ms, 1_000)) latest = now = Date.now()
      return now
    },
  }
}
