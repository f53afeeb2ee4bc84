import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { type Clock, systemClock } from '../lib/clock.ts'

interface IdleCollectionOptions {
  clock?: Clock
  /** Collects garbage; undefined if Node was started without --expose-gc. */
  collect: (() => void) | undefined
  /** The share of time since the last call in which the event loop was busy (0 to 1). */
  measureUtilization: () => number
  /** Resident memory in bytes. */
  measureMemory: () => number
}

const checkInterval_ms = 1_000
const idleUtilization = 0.05
/** A collection takes about 50 ms, so it only runs after this much growth. */
const minGrowth_bytes = 8 * 2 ** 20
const minInterval_ms = 10_000
/** This long after the end of work there is always a collection, because one during the work finds everything in use. */
const quietPeriod_ms = 10_000

/**
 * Limits the buffers held by the young generation to 8 MB instead of 64, because the many small chunks of an upload would otherwise
 * grow the process for good. Must be called at startup. V8 supports the flag since the version in Node 24.
 */
export function limitYoungGeneration(): void {
  if (Number.parseInt(process.versions.v8, 10) >= 13) setFlagsFromString('--scavenger-max-new-space-capacity-mb=2')
}

/**
 * Collects garbage when the platform becomes idle. V8 collects only when memory is allocated, so the garbage of a build or a burst of
 * log lines would stay while nothing happens.
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
 * Frees as much memory as possible. Unlike a plain `gc()` it also frees the pages that V8 keeps in reserve, which are as many as those in
 * use. Undefined if Node was started without --expose-gc.
 */
export const collectAllGarbage = globalThis.gc && (() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))

/** Measures the event loop of this process. */
export function createEventLoopMeter(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
