import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { type Clock, systemClock } from '../lib/clock.ts'

interface Options {
  clock?: Clock
  /** Collects garbage; undefined where Node was started without --expose-gc. */
  collect: (() => void) | undefined
  /** The share of the time since the last call in which the event loop was busy. */
  busyShare: () => number
  /** Resident memory. */
  usedBytes: () => number
}

const look_ms = 1_000
const idle_share = 0.05
/** A collection takes some 50 ms: it has to be worth that. */
const worth_bytes = 8 * 2 ** 20
const pause_ms = 10_000
/** After work that ended so long ago there is a collection in any case: one in the middle of it found everything in use. */
const calm_ms = 10_000

/**
 * Lets young garbage hold 8 MB of buffers instead of 64: an upload comes in pieces of a few kilobytes each, and memory that was once
 * given to so many stays with the process. To be called at the start. V8 has the flag since the version that is in Node 24.
 */
export function collectBuffersEarly(): void {
  if (Number.parseInt(process.versions.v8, 10) >= 13) setFlagsFromString('--scavenger-max-new-space-capacity-mb=2')
}

/**
 * Collects garbage when the platform has become idle. V8 itself collects when memory is asked for, so that what a build or a burst of log
 * lines leaves would stay for as long as nothing happens.
 */
export function collectWhenIdle({ clock = systemClock, collect, busyShare, usedBytes }: Options): { stop(): void } {
  if (!collect) return { stop() {} }
  let kept_bytes = 0
  let collected_at = -Infinity
  let worked_at = -Infinity
  const timer = clock
    .setInterval(() => {
      const now = clock.monotonic()
      if (busyShare() >= idle_share) worked_at = now
      const is_calm = worked_at > collected_at && now - worked_at >= calm_ms
      const is_grown = now - collected_at >= pause_ms && usedBytes() >= kept_bytes + worth_bytes
      if (worked_at === now || !(is_calm || is_grown)) return
      collect()
      collected_at = now
      kept_bytes = usedBytes()
    }, look_ms)
    .unref()
  return { stop: () => timer.cancel() }
}

/**
 * All that can be given back: unlike a plain `gc()` it also frees the pages that V8 holds ready for itself, which are as many as those
 * in use. Undefined where Node was started without --expose-gc.
 */
export const collectAll = globalThis.gc && (() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }))

/** Of this process. */
export function createBusyShare(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
