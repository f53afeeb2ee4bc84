import { setImmediate as breathe } from 'node:timers/promises'
import { metricsBuckets } from '../contract/metrics.ts'
import type { Meter, MeterReading } from '../edge/meter.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isBusy } from '../store/database.ts'
import type { MetricsStore } from '../store/metrics.ts'
import type { MetricsRow } from '../store/tables.ts'

/** Keeps what the edge's meter counts: writes it down every few seconds, and reads it with what is not written yet. */
export interface MetricsBook {
  /** What is known of a project from a moment on (seconds since 1970), to the last request, in order. */
  since(projectId: string, ts: number): MetricsRow[]
  /** Requests by hour from a moment on. */
  hourly(projectId: string, ts: number): { ts: number; requests: number }[]
  /** Writes down what was counted, and stops. */
  close(): Promise<void>
}

/** What a crash may lose. */
const flushEvery_ms = 2_000
const ageEvery_ms = 60_000
/** Rows in one transaction: some milliseconds, for which nothing else is done. */
const slice = 100

export function createMetricsBook(options: { meter: Meter; store: MetricsStore; clock: Clock; log: Log }): MetricsBook {
  const { meter, store, clock, log } = options
  let running: Promise<void> = Promise.resolve()
  let closed = false
  let agedAt = clock.monotonic()
  let complained = false

  const write = (readings: readonly MeterReading[]): boolean => {
    try {
      store.add(readings)
      complained = false
      return true
    } catch (error) {
      // All or nothing was stored: it waits in memory until the disk takes it.
      meter.give(readings)
      // While the file is tidied up nobody writes for a moment: that is no news.
      if (!complained && !isBusy(error)) {
        log.warn('metrics_not_stored', { error })
        complained = true
      }
      return false
    }
  }

  const flush = async (): Promise<void> => {
    const projects = meter.projects()
    for (let at = 0; at < projects.length; at += slice) {
      // Taken and written without a pause between, so that a reader never misses what is on its way.
      if (!write(projects.slice(at, at + slice).flatMap((id) => meter.take(id)))) return
      await breathe()
    }
  }

  const age = async (): Promise<void> => {
    agedAt = clock.monotonic()
    while (!closed && store.age(clock.now() / 1000, slice)) await breathe()
  }

  const round = async (): Promise<void> => {
    const began = performance.now()
    await flush()
    const spent = performance.now() - began
    if (clock.monotonic() - agedAt >= ageEvery_ms)
      await age().catch((error: unknown) => (isBusy(error) ? undefined : log.warn('metrics_not_aged', { error })))
    // Thousands of busy projects may take longer to write down: that never takes more than a tenth of the time.
    if (!closed) next(Math.max(flushEvery_ms, 9 * spent))
  }

  let timer: Timer | undefined
  const next = (wait_ms: number): void => {
    timer = clock.setTimeout(() => (running = round()), wait_ms).unref()
  }
  next(flushEvery_ms)

  return {
    since(projectId, ts) {
      const readings = meter.take(projectId)
      if (write(readings)) return store.since(projectId, ts)
      const waiting = readings.filter((reading) => reading.ts >= ts).map(rowOf)
      return [...store.since(projectId, ts), ...waiting].toSorted((a, b) => a.ts - b.ts)
    },
    hourly(projectId, ts) {
      write(meter.take(projectId))
      return store.hourly(projectId, ts)
    },
    async close() {
      closed = true
      timer?.cancel()
      await running
      await flush()
    },
  }
}

const rowOf = (reading: MeterReading): MetricsRow => ({
  ...reading,
  seconds: metricsBuckets['24h'].seconds,
  latencies: reading.latencies.encode(),
  cold_latencies: reading.cold_latencies?.encode() ?? null,
})
