import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { historyBuckets, metricsBuckets } from '../../server/contract/metrics-ranges.ts'
import { createMetricsCollector } from '../../server/edge/metrics.ts'
import { createMetricsRecorder } from '../../server/features/metrics-recorder.ts'
import { createHistogram } from '../../server/lib/histogram.ts'
import { createLog, silentLog } from '../../server/lib/log.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import type { MetricsRow } from '../../server/store/log-tables.ts'
import { fixedClock } from '../support/test-clock.ts'
import { fullTest } from '../support/full-test.ts'
import { metricsReading } from '../support/metrics-reading.ts'

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-metrics-'))
  store = await openStore({ data_dir: folder, after_crash: false })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const quarter = 15 * 60
const hour = 3600
const day = 24 * hour
const now = Date.UTC(2026, 0, 31, 12, 7) / 1000
const quarterOf = (at: number) => Math.floor(at / quarter) * quarter

const all = (projectId: string) => store.metrics.readSince(projectId, 0)
const total = (rows: MetricsRow[]) => rows.reduce((sum, row) => sum + row.requests, 0)
const merged = (rows: MetricsRow[]) => {
  const whole = createHistogram()
  for (const row of rows) whole.mergeEncoded(row.latencies)
  return whole.encode()
}
/** Ages until nothing is left to aggregate. */
const age = (at: number): void => {
  while (store.metrics.downsample(at, 100)) continue
}

describe('stored metrics', () => {
  test('readings of ten seconds add up in one row', () => {
    const ts = quarterOf(now)
    const cold = createHistogram()
    cold.add(120)
    store.metrics.add([metricsReading('a', ts, [1, 2], { bytes_out: 10, status_2xx: 2 }), metricsReading('b', ts, [5])])
    store.metrics.add([metricsReading('a', ts, [3], { bytes_out: 7, status_5xx: 1, cold_starts: 1, cold_latencies: cold, last_cold_start_at: 77 })])
    store.metrics.add([metricsReading('a', ts + quarter, [4])])
    const [first, second, ...rest] = all('a')
    expect(rest).toEqual([])
    expect(first).toMatchObject({
      ts,
      seconds: 10,
      requests: 3,
      bytes_out: 17,
      status_2xx: 2,
      status_5xx: 1,
      cold_starts: 1,
      last_cold_start_at: 77,
    })
    expect(createHistogram(first?.latencies).quantile(1)).toBeCloseTo(3, 1)
    expect(createHistogram(first?.cold_latencies ?? undefined).count).toBe(1)
    expect(second).toMatchObject({ ts: ts + quarter, requests: 1, last_cold_start_at: null, cold_latencies: null })
    expect(total(all('b'))).toBe(1)
  })

  test('the readings of one call are stored all or none', () => {
    const ts = quarterOf(now)
    const broken = { ...metricsReading('b', ts, [1]), requests: Number.NaN }
    expect(() => store.metrics.add([metricsReading('a', ts, [1]), broken])).toThrow()
    expect([...all('a'), ...all('b')]).toEqual([])
  })

  test('survive a restart, and are deleted with the project', async () => {
    store.metrics.add([metricsReading('a', quarterOf(now), [1]), metricsReading('b', quarterOf(now), [1])])
    await store.close()
    store = await openStore({ data_dir: folder, after_crash: false })
    expect(total(all('a'))).toBe(1)
    await store.metrics.remove('a')
    expect(all('a')).toEqual([])
    expect(total(all('b'))).toBe(1)
  })

  test('a damaged file is set aside and does not keep the platform from starting', async () => {
    await store.close()
    writeFileSync(join(folder, 'metrics.db'), 'this is no database'.repeat(500))
    store = await openStore({ data_dir: folder, after_crash: true })
    store.metrics.add([metricsReading('a', quarterOf(now), [1])])
    expect(total(all('a'))).toBe(1)
    expect(readdirSync(folder)).toContain('metrics.db.damaged')
  })
})

describe('aging data', () => {
  test('is aggregated without losing a request, and is in every range for as long as that range covers it', () => {
    const first = quarterOf(now - 31 * day)
    let requests = 0
    for (let ts = first; ts <= now; ts += quarter) {
      store.metrics.add([metricsReading('a', ts, [(requests % 97) + 1])])
      requests++
      // Every now and then, as while the platform runs.
      if (requests % 40 === 0) age(ts)
    }
    age(now)
    const rows = all('a')
    for (const { count, seconds } of Object.values(metricsBuckets)) {
      const from = (Math.floor(now / seconds) + 1 - count) * seconds
      const within = rows.filter((row) => row.ts >= from)
      expect(total(within)).toBe((quarterOf(now) - from) / quarter + 1)
      // None crosses the edge of a bucket.
      for (const row of within) expect(Math.floor((row.ts + row.seconds - 1) / seconds)).toBe(Math.floor(row.ts / seconds))
    }
    const ranges = rows.map((row) => [row.ts, row.ts + row.seconds] as const)
    for (const [i, [begins]] of ranges.entries()) if (i > 0) expect(begins).toBeGreaterThanOrEqual(ranges[i - 1]![1])
  })

  test('keeps as much detail as the ranges that still cover it show', () => {
    // Ten hours of a request every ten seconds.
    const first = now - 10 * hour
    for (let ts = Math.floor(first / 10) * 10; ts <= now; ts += 10) {
      store.metrics.add([metricsReading('a', ts, [5])])
      if (ts % 3600 === 0) age(ts)
    }
    age(now)
    const rows = all('a')
    expect(rows.length).toBeLessThan(350)
    expect(total(rows)).toBe(10 * 360 + 1)
    expect(store.metrics.readFirst('a')).toBe(rows[0]?.ts)
    for (const { count, seconds } of Object.values(historyBuckets)) {
      const from = (Math.floor(now / seconds) + 1 - count) * seconds
      for (const row of rows.filter(({ ts }) => ts >= from)) {
        expect(row.seconds).toBeLessThanOrEqual(seconds)
        expect(Math.floor((row.ts + row.seconds - 1) / seconds)).toBe(Math.floor(row.ts / seconds))
      }
    }
  })

  test('keeps durations exactly', () => {
    const durations = Array.from({ length: 96 }, (_, i) => Array.from({ length: 20 }, (_unused, k) => 1.1 ** ((i * 7 + k) % 100)))
    for (const [i, some] of durations.entries()) store.metrics.add([metricsReading('a', quarterOf(now - 20 * day) + i * quarter, some)])
    const before = merged(all('a'))
    age(now)
    expect(all('a').length).toBeLessThanOrEqual(6)
    expect(merged(all('a'))).toEqual(before)
    expect(total(all('a'))).toBe(96 * 20)
  })

  test('accepts late readings in aggregated rows', () => {
    const old = quarterOf(now - 3 * day)
    store.metrics.add([metricsReading('a', old, [1])])
    age(now)
    store.metrics.add([metricsReading('a', old, [2])])
    age(now)
    expect(all('a')).toMatchObject([{ ts: Math.floor(old / hour) * hour, seconds: hour, requests: 2 }])
  })

  test('is deleted when no range covers it', () => {
    store.metrics.add([metricsReading('a', quarterOf(now - 40 * day), [1]), metricsReading('b', quarterOf(now - 29 * day), [1])])
    age(now)
    expect(all('a')).toEqual([])
    expect(total(all('b'))).toBe(1)
  })

  fullTest('a project takes bounded space, however busy it is', async () => {
    // A quarter of an hour of ten million requests with all kinds of durations, and then such a month.
    const busy = createHistogram()
    for (let exponent = 0; exponent < 500; exponent++) for (let i = 0; i < 3; i++) busy.add(0.1 * 1.02 ** exponent)
    let most = 0
    for (let ts = quarterOf(now - 33 * day), i = 0; ts <= now; ts += quarter, i++) {
      store.metrics.add([{ ...metricsReading('a', ts, []), requests: 10_000_000, latencies: busy }])
      if (i % 96 === 0 || ts + quarter > now) age(ts)
      most = Math.max(most, i % 96 === 0 ? all('a').length : 0)
    }
    // 100 + 150 + 93 rows, and what accumulates within a day without aging.
    expect(all('a').length).toBeLessThan(350)
    expect(most).toBeLessThan(450)
    const bytes = all('a').reduce((sum, row) => sum + row.latencies.length, 0)
    expect(bytes).toBeLessThan(600_000)
    store.metrics.add([metricsReading('quiet', quarterOf(now), [1])])
    expect(all('quiet')).toHaveLength(1)
  })
})

describe('the metrics recorder', () => {
  const clock = fixedClock(now * 1000)
  const create = (log = silentLog) => {
    const meter = createMetricsCollector({ clock, isEnabled: () => true })
    return { meter, book: createMetricsRecorder({ meter, store: store.metrics, clock, log }) }
  }

  test('returns counts at once, and writes them on close', async () => {
    const { meter, book } = create()
    const project = meter.forProject('a')
    for (let i = 1; i <= 137; i++) {
      project.recordResponse(200, 1, 5, null)
      if (i % 10 === 0) expect(total(book.readSince('a', 0))).toBe(i)
    }
    expect(total(book.readSince('a', 0))).toBe(137)
    expect(book.readHourlyRequests('a', 0)).toEqual([{ ts: Math.floor(now / hour) * hour, requests: 137 }])
    project.recordResponse(200, 1, 5, null)
    await book.close()
    expect(total(all('a'))).toBe(138)
  })

  test('loses and doubles nothing while writes fail, or while it is read', async () => {
    const lines: string[] = []
    const add = store.metrics.add
    let refuses = true
    store.metrics.add = (readings) => {
      if (refuses && readings.length > 0) throw new Error('disk full')
      add(readings)
    }
    const { meter, book } = create(createLog((line) => lines.push(line)))
    const projects = Array.from({ length: 350 }, (_, i) => meter.forProject(`p${i}`))
    for (let round = 1; round <= 3; round++) {
      for (const project of projects) project.recordResponse(200, 1, 5, null)
      expect(total(book.readSince('p7', 0))).toBe(round)
    }
    expect(lines.filter((line) => line.includes('metrics_store_failed'))).toHaveLength(1)
    refuses = false
    const closing = book.close()
    // In the middle of it, slice by slice.
    for (let i = 0; i < 5; i++) {
      expect(total(book.readSince('p349', 0))).toBe(3)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closing
    for (const i of [0, 7, 123, 349]) expect(total(all(`p${i}`))).toBe(3)
    store.metrics.add = add
  })

  test('reads 30 days of one among 10 000 projects in little time and memory', () => {
    const busy = createHistogram()
    for (let i = 0; i < 400; i++) busy.add(1 + (i % 120) / 4)
    const rows = Array.from({ length: 340 }, (_, i) => ({
      ...metricsReading('busy', quarterOf(now) - i * 2 * hour, []),
      requests: 400,
      latencies: busy,
    }))
    store.metrics.add(rows)
    for (let i = 0; i < 100; i++)
      store.metrics.add(Array.from({ length: 100 }, (_, k) => metricsReading(`p${i * 100 + k}`, quarterOf(now), [1, 2, 3])))
    const times: number[] = []
    for (let i = 0; i < 15; i++) {
      const began = performance.now()
      expect(total(store.metrics.readSince('busy', now - 30 * day))).toBe(340 * 400)
      times.push(performance.now() - began)
    }
    console.log(`30 days among 10 000 projects: ${times.toSorted((a, b) => a - b)[7]?.toFixed(2)} ms (median)`)
    expect(statSync(join(folder, 'metrics.db')).size + statSync(join(folder, 'metrics.db-wal')).size).toBeLessThan(20_000_000)
  })
})
