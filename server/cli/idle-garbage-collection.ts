import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { type Clock, systemClock } from '../lib/clock.ts'

interface IdleCollectionOptions {
  clock?: Clock
  /** Collects garbage; undefined where Node was started without --expose-gc. */
  collect: (() => void) | undefined
  /** The share of the time since the last call in which the event loop was busy. */
  measureUtilization: () => number
  /** Resident memory. */
  measureMemory: () => number
}

const checkInterval_ms = 1_000
const idleUtilization = 0.05
/** A collection takes some 50 ms: it has to be worth that. */
const minGrowth_bytes = 8 * 2 ** 20
const minInterval_ms = 10_000
/** After work that ended so long ago there is a collection in any case: one in the middle of it found everything in use. */
const quietPeriod_ms = 10_000

/**
 * Lets young garbage hold 8 MB of buffers instead of 64: an upload comes in pieces of a few kilobytes each, and memory that was once
 * given to so many stays with the process. To be called at the start. V8 has the flag since the version that is in Node 24.
 */
export function limitYoungGeneration(): void {
  if (Number.parseInt(process.versions.v8, 10) >= 13) setFlagsFromString('--scavenger-max-new-space-capacity-mb=2')
}

/**
 * Collects garbage when the platform has become idle. V8 itself collects when memory is asked for, so that what a build or a burst of log
 * lines leaves would stay for as long as nothing happens.
 */
export function collectGarbageWhenIdle({ clock = systemClock, collect, measureUtilization, measureMemory }: IdleCollectionOptions): { stop(): void } {
  if (!collect) return { stop() {} }
  let memoryAfterCollection = 0
  let lastCollectedAt = -Infinity
  let lastBusyAt = -Infinity
  const timer = clock
    .setInterval(() => {
      const now = clock.monotonic()
      if (measureUtilization() >= idleUtilization) lastBusyAt = now
      const isQuiet = lastBusyAt > lastCollectedAt && now - lastBusyAt >= quietPeriod_ms
      const hasGrown = now - lastCollectedAt >= minInterval_ms && measureMemory() >= memoryAfterCollection + minGrowth_bytes
      if (lastBusyAt === now || !(isQuiet || hasGrown)) return
      collect()
      lastCollectedAt = now
      memoryAfterCollection = measureMemory()
    }, checkInterval_ms)
    .unref()
  return { stop: () => timer.cancel() }
}

/**
 * All that can be given back: unlike a plain `gc()` it also frees the pages that V8 holds ready for itself, which are as many as those
 * in use. Undefined where Node was started without --expose-gc.
 */
export const collectAllGarbage = globalThis.gc && (() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))

/** Of this process. */
export function createEventLoopMeter(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
