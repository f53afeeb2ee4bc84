import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { metricsBuckets } from '../contract/metrics.ts'
import type { MetricsCollector, MetricsBucket } from '../edge/metrics.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isSqliteBusy } from '../store/sqlite.ts'
import type { MetricsStore } from '../store/metrics-store.ts'
import type { MetricsRow } from '../store/tables.ts'

/** Keeps what the edge's meter counts: writes it down every few seconds, and reads it with what is not written yet. */
export interface MetricsRecorder {
  /** What is known of a project from a moment on (seconds since 1970), to the last request, in order. */
  readSince(projectId: string, ts: number): MetricsRow[]
  /** Requests by hour from a moment on. */
  readHourlyRequests(projectId: string, ts: number): { ts: number; requests: number }[]
  /** Writes down what was counted, and stops. */
  close(): Promise<void>
}

/** What a crash may lose. */
const flushInterval_ms = 2_000
const downsampleInterval_ms = 60_000
/** Rows in one transaction: some milliseconds, for which nothing else is done. */
const batchSize = 100

export function createMetricsRecorder(options: { meter: MetricsCollector; store: MetricsStore; clock: Clock; log: Log }): MetricsRecorder {
  const { meter, store, clock, log } = options
  let running: Promise<void> = Promise.resolve()
  let isClosed = false
  let downsampledAt_ms = clock.monotonic()
  let hasWarned = false

  const write = (readings: readonly MetricsBucket[]): boolean => {
    try {
      store.add(readings)
      hasWarned = false
      return true
    } catch (error) {
      // All or nothing was stored: it waits in memory until the disk takes it.
      meter.restore(readings)
      // While the file is tidied up nobody writes for a moment: that is no news.
      if (!hasWarned && !isSqliteBusy(error)) {
        log.warn('metrics_not_stored', { error })
        hasWarned = true
      }
      return false
    }
  }

  const flush = async (): Promise<void> => {
    const projects = meter.listActiveProjects()
    for (let at = 0; at < projects.length; at += batchSize) {
      // Taken and written without a pause between, so that a reader never misses what is on its way.
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
      await downsample().catch((error: unknown) => (isSqliteBusy(error) ? undefined : log.warn('metrics_not_aged', { error })))
    // Thousands of busy projects may take longer to write down: that never takes more than a tenth of the time.
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
  seconds: metricsBuckets['24h'].seconds,
  latencies: reading.latencies.encode(),
  cold_latencies: reading.cold_latencies?.encode() ?? null,
})
