import { metricsBuckets, metricsCounters, type MetricsRange } from '../contract/metrics.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import type { Database, Transaction } from './database.ts'
import type { MetricsRow, MetricsTables } from './tables.ts'

/** What was counted of a project within one quarter of an hour, to be added to what is stored of it. */
export type MetricsReading = Omit<MetricsRow, 'seconds' | 'latencies' | 'cold_latencies'> & {
  latencies: Histogram
  cold_latencies: Histogram | null
}

export interface MetricsStore {
  /** Adds readings in one transaction: all of them, or none. */
  add(readings: readonly MetricsReading[]): void
  /** What is stored of a project from a moment on, in order. */
  since(projectId: string, ts: number): MetricsRow[]
  /** Requests by hour from a moment on, of the last day at most. */
  hourly(projectId: string, ts: number): { ts: number; requests: number }[]
  /** Folds what has aged into longer rows and drops what is past its time, so many rows at most; true when there is more. */
  age(now_s: number, rows: number): boolean
  remove(projectId: string): void
}

/** A range shows rows of its own length and longer ones never: each row is kept until no range asks for its length any more. */
const kept = (range: MetricsRange, next: MetricsRange): number => {
  const { count, seconds } = metricsBuckets[range]
  return count * seconds + metricsBuckets[next].seconds
}
const folds = [
  { seconds: metricsBuckets['24h'].seconds, into: metricsBuckets['7d'].seconds, after_s: kept('24h', '7d') },
  { seconds: metricsBuckets['7d'].seconds, into: metricsBuckets['30d'].seconds, after_s: kept('7d', '30d') },
] as const
const dropped = { seconds: metricsBuckets['30d'].seconds, after_s: kept('30d', '30d') }

const columns = ['project_id', 'ts', 'seconds', ...metricsCounters, 'latencies', 'cold_latencies', 'last_cold_start_at'] as const
const insert = `INSERT INTO buckets (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
const update = `UPDATE buckets SET ${metricsCounters.map((name) => `${name} = ${name} + ?`).join(', ')}, latencies = ?, cold_latencies = ?,
  last_cold_start_at = nullif(max(coalesce(last_cold_start_at, 0), ?), 0) WHERE project_id = ? AND ts = ? AND seconds = ?`

type Tx = Transaction<MetricsTables>

export function createMetricsStore(db: Database<MetricsTables>): MetricsStore {
  return {
    add(readings) {
      if (readings.length > 0)
        db.writeNow((tx) => {
          for (const reading of readings) addTo(tx, reading, metricsBuckets['24h'].seconds)
        })
    },

    since: (projectId, ts) =>
      db.readNow((tx) => tx.sqlAll<MetricsRow>('SELECT * FROM buckets WHERE project_id = ? AND ts >= ? ORDER BY ts', projectId, ts)),

    hourly: (projectId, ts) =>
      db.readNow((tx) =>
        tx.sqlAll<{ ts: number; requests: number }>(
          'SELECT ts / 3600 * 3600 AS ts, sum(requests) AS requests FROM buckets WHERE project_id = ? AND ts >= ? AND seconds <= 3600 GROUP BY 1',
          projectId,
          ts,
        ),
      ),

    age(now_s, rows) {
      return db.writeNow((tx) => {
        let left = rows
        for (const fold of folds) left -= foldSome(tx, fold, Math.floor((now_s - fold.after_s) / fold.into) * fold.into, left)
        if (left > 0)
          left -= tx.sqlRun(
            'DELETE FROM buckets WHERE (project_id, ts, seconds) IN (SELECT project_id, ts, seconds FROM buckets WHERE seconds = ? AND ts < ? LIMIT ?)',
            dropped.seconds,
            now_s - dropped.after_s,
            left,
          )
        return left <= 0
      })
    },

    remove(projectId) {
      db.writeNow((tx) => tx.sqlRun('DELETE FROM buckets WHERE project_id = ?', projectId))
    },
  }
}

function foldSome(tx: Tx, fold: (typeof folds)[number], before: number, limit: number): number {
  if (limit <= 0) return 0
  const old = tx.sqlAll<MetricsRow>('SELECT * FROM buckets WHERE seconds = ? AND ts < ? ORDER BY ts LIMIT ?', fold.seconds, before, limit)
  for (const row of old) {
    const latencies = createHistogram(row.latencies)
    const cold_latencies = row.cold_latencies && createHistogram(row.cold_latencies)
    addTo(tx, { ...row, ts: Math.floor(row.ts / fold.into) * fold.into, latencies, cold_latencies }, fold.into)
    tx.sqlRun('DELETE FROM buckets WHERE project_id = ? AND ts = ? AND seconds = ?', row.project_id, row.ts, row.seconds)
  }
  return old.length
}

function addTo(tx: Tx, reading: MetricsReading, seconds: number): void {
  const counts = metricsCounters.map((name) => reading[name])
  const place = [reading.project_id, reading.ts, seconds]
  const stored = tx.sqlFirst<Pick<MetricsRow, 'latencies' | 'cold_latencies'>>(
    'SELECT latencies, cold_latencies FROM buckets WHERE project_id = ? AND ts = ? AND seconds = ?',
    ...place,
  )
  if (!stored) {
    const { latencies, cold_latencies, last_cold_start_at } = reading
    tx.sqlRun(insert, ...place, ...counts, latencies.encode(), cold_latencies?.encode() ?? null, last_cold_start_at)
    return
  }
  const latencies = createHistogram(stored.latencies)
  latencies.merge(reading.latencies)
  let cold = stored.cold_latencies
  if (reading.cold_latencies) {
    const both = createHistogram(cold ?? undefined)
    both.merge(reading.cold_latencies)
    cold = both.encode()
  }
  tx.sqlRun(update, ...counts, latencies.encode(), cold, reading.last_cold_start_at ?? 0, ...place)
}
