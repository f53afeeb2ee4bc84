import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { historyBuckets } from '../contract/metrics-ranges.ts'
import type { MetricsCollector, MetricsBucket } from '../edge/metrics.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isSqliteBusy } from '../store/sqlite.ts'
import type { MetricsStore } from '../store/metrics-store.ts'
import type { MetricsRow } from '../store/log-tables.ts'

/** Stores the metrics of the edge every few seconds. Reads include metrics that are not stored yet. */
export interface MetricsRecorder {
  /** Metrics of a project since a time (seconds since 1970), in order. */
  readSince(projectId: string, ts: number): MetricsRow[]
  /** When the metrics of a project begin (seconds since 1970). */
  readFirst(projectId: string): number | undefined
  /** Stores what was counted so far, so that `onStored` has seen it. */
  flush(): Promise<void>
  /** Hourly requests since a time. */
  readHourlyRequests(projectId: string, ts: number): { ts: number; requests: number }[]
  /** Stores pending metrics and stops. */
  close(): Promise<void>
}

/** Maximum time of metrics lost in a crash. */
const flushInterval_ms = 2_000
const downsampleInterval_ms = 60_000
/** Rows per transaction, which blocks the event loop for some milliseconds. */
const batchSize = 100

export function createMetricsRecorder(options: {
  meter: MetricsCollector
  store: MetricsStore
  clock: Clock
  log: Log
  /** Receives what was stored, each reading once. */
  onStored?(readings: readonly MetricsBucket[]): void
}): MetricsRecorder {
  const { meter, store, clock, log } = options
  let running: Promise<void> = Promise.resolve()
  let isClosed = false
  let downsampledAt_ms = clock.monotonic()
  let hasWarned = false

  const write = (readings: readonly MetricsBucket[]): boolean => {
    try {
      store.add(readings)
      hasWarned = false
      options.onStored?.(readings)
      return true
    } catch (error) {
      // The transaction failed as a whole, so the metrics stay in memory until the next attempt.
      meter.restore(readings)
      // A checkpoint blocks writes for a moment, which is not worth a warning.
      if (!hasWarned && !isSqliteBusy(error)) {
        log.warn('metrics_store_failed', { error })
        hasWarned = true
      }
      return false
    }
  }

  const flush = async (): Promise<void> => {
    const projects = meter.listActiveProjects()
    for (let at = 0; at < projects.length; at += batchSize) {
      // Metrics are taken and written without an await in between, so that readers never miss them.
      if (!write(projects.slice(at, at + batchSize).flatMap((id) => meter.take(id)))) return
      await yieldToEventLoop()
    }
  }

  const downsample = async (): Promise<void> => {
    downsampledAt_ms = clock.monotonic()
    while (!isClosed && store.downsample(clock.now() / 1000, batchSize)) await yieldToEventLoop()
  }

  const runCycle = async (): Promise<void> => {
    const startedAt_ms = performance.now()
    await flush()
    const duration_ms = performance.now() - startedAt_ms
    if (clock.monotonic() - downsampledAt_ms >= downsampleInterval_ms)
      await downsample().catch((error: unknown) => (isSqliteBusy(error) ? undefined : log.warn('metrics_rollup_failed', { error })))
    // Writing takes at most a tenth of the time, even with thousands of busy projects.
    if (!isClosed) scheduleCycle(Math.max(flushInterval_ms, 9 * duration_ms))
  }

  let timer: Timer | undefined
  const scheduleCycle = (wait_ms: number): void => {
    timer = clock.setTimeout(() => (running = runCycle()), wait_ms).unref()
  }
  scheduleCycle(flushInterval_ms)

  return {
    readSince(projectId, ts) {
      const readings = meter.take(projectId)
      if (write(readings)) return store.readSince(projectId, ts)
      const unwritten = readings.filter((reading) => reading.ts >= ts).map(toMetricsRow)
      return [...store.readSince(projectId, ts), ...unwritten].toSorted((a, b) => a.ts - b.ts)
    },
    readFirst(projectId) {
      write(meter.take(projectId))
      return store.readFirst(projectId)
    },
    flush,
    readHourlyRequests(projectId, ts) {
      write(meter.take(projectId))
      return store.readHourlyRequests(projectId, ts)
    },
    async close() {
      isClosed = true
      timer?.cancel()
      await running
      await flush()
    },
  }
}

const toMetricsRow = (reading: MetricsBucket): MetricsRow => ({
  ...reading,
  seconds: historyBuckets.live.seconds,
  latencies: reading.latencies.encode(),
  cold_latencies: reading.cold_latencies?.encode() ?? null,
})
