import { metricsBuckets, metricsCounters, type MetricsRange } from '../contract/metrics.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import type { SqliteDatabase, SqliteTransaction } from './sqlite.ts'
import type { MetricsRow, MetricsTables } from './tables.ts'

/** The counts of a project within one quarter of an hour, to be added to the stored ones. */
export type MetricsReading = Omit<MetricsRow, 'seconds' | 'latencies' | 'cold_latencies'> & {
  latencies: Histogram
  cold_latencies: Histogram | null
}

export interface MetricsStore {
  /** Adds readings in one transaction. */
  add(readings: readonly MetricsReading[]): void
  /** The stored rows of a project since a time, in order. */
  readSince(projectId: string, ts: number): MetricsRow[]
  /** Requests per hour since a time, of the last day at most. */
  readHourlyRequests(projectId: string, ts: number): { ts: number; requests: number }[]
  /** Merges aged rows into longer ones and deletes expired ones, at most `rows` rows. True if more remain. */
  downsample(now_s: number, rows: number): boolean
  remove(projectId: string): void
}

/** A range shows only rows of its own length or shorter, so each row is kept until no range needs its length. */
const retentionOf_s = (range: MetricsRange, next: MetricsRange): number => {
  const { count, seconds } = metricsBuckets[range]
  return count * seconds + metricsBuckets[next].seconds
}
const rollups = [
  { seconds: metricsBuckets['24h'].seconds, into: metricsBuckets['7d'].seconds, after_s: retentionOf_s('24h', '7d') },
  { seconds: metricsBuckets['7d'].seconds, into: metricsBuckets['30d'].seconds, after_s: retentionOf_s('7d', '30d') },
] as const
const expiry = { seconds: metricsBuckets['30d'].seconds, after_s: retentionOf_s('30d', '30d') }

const columns = ['project_id', 'ts', 'seconds', ...metricsCounters, 'latencies', 'cold_latencies', 'last_cold_start_at'] as const
const insertSql = `INSERT INTO buckets (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
const updateSql = `UPDATE buckets SET ${metricsCounters.map((name) => `${name} = ${name} + ?`).join(', ')}, latencies = ?, cold_latencies = ?,
  last_cold_start_at = nullif(max(coalesce(last_cold_start_at, 0), ?), 0) WHERE project_id = ? AND ts = ? AND seconds = ?`

type MetricsTx = SqliteTransaction<MetricsTables>

export function createMetricsStore(db: SqliteDatabase<MetricsTables>): MetricsStore {
  return {
    add(readings) {
      if (readings.length > 0)
        db.writeSync((tx) => {
          for (const reading of readings) addToBucket(tx, reading, metricsBuckets['24h'].seconds)
        })
    },

    readSince: (projectId, ts) =>
      db.readSync((tx) => tx.sqlAll<MetricsRow>('SELECT * FROM buckets WHERE project_id = ? AND ts >= ? ORDER BY ts', projectId, ts)),

    readHourlyRequests: (projectId, ts) =>
      db.readSync((tx) =>
        tx.sqlAll<{ ts: number; requests: number }>(
          'SELECT ts / 3600 * 3600 AS ts, sum(requests) AS requests FROM buckets WHERE project_id = ? AND ts >= ? AND seconds <= 3600 GROUP BY 1',
          projectId,
          ts,
        ),
      ),

    downsample(now_s, rows) {
      return db.writeSync((tx) => {
        let left = rows
        for (const rollup of rollups) left -= rollUpBatch(tx, rollup, Math.floor((now_s - rollup.after_s) / rollup.into) * rollup.into, left)
        if (left > 0)
          left -= tx.sqlRun(
            'DELETE FROM buckets WHERE (project_id, ts, seconds) IN (SELECT project_id, ts, seconds FROM buckets WHERE seconds = ? AND ts < ? LIMIT ?)',
            expiry.seconds,
            now_s - expiry.after_s,
            left,
          )
        return left <= 0
      })
    },

    remove(projectId) {
      db.writeSync((tx) => tx.sqlRun('DELETE FROM buckets WHERE project_id = ?', projectId))
    },
  }
}

function rollUpBatch(tx: MetricsTx, rollup: (typeof rollups)[number], before: number, limit: number): number {
  if (limit <= 0) return 0
  const expiredRows = tx.sqlAll<MetricsRow>('SELECT * FROM buckets WHERE seconds = ? AND ts < ? ORDER BY ts LIMIT ?', rollup.seconds, before, limit)
  for (const row of expiredRows) {
    const latencies = createHistogram(row.latencies)
    const cold_latencies = row.cold_latencies && createHistogram(row.cold_latencies)
    addToBucket(tx, { ...row, ts: Math.floor(row.ts / rollup.into) * rollup.into, latencies, cold_latencies }, rollup.into)
    tx.sqlRun('DELETE FROM buckets WHERE project_id = ? AND ts = ? AND seconds = ?', row.project_id, row.ts, row.seconds)
  }
  return expiredRows.length
}

function addToBucket(tx: MetricsTx, reading: MetricsReading, seconds: number): void {
  const counts = metricsCounters.map((name) => reading[name])
  const bucketKey = [reading.project_id, reading.ts, seconds]
  const stored = tx.sqlFirst<Pick<MetricsRow, 'latencies' | 'cold_latencies'>>(
    'SELECT latencies, cold_latencies FROM buckets WHERE project_id = ? AND ts = ? AND seconds = ?',
    ...bucketKey,
  )
  if (!stored) {
    const { latencies, cold_latencies, last_cold_start_at } = reading
    tx.sqlRun(insertSql, ...bucketKey, ...counts, latencies.encode(), cold_latencies?.encode() ?? null, last_cold_start_at)
    return
  }
  const latencies = createHistogram(stored.latencies)
  latencies.merge(reading.latencies)
  let cold = stored.cold_latencies
  if (reading.cold_latencies) {
    const merged = createHistogram(cold ?? undefined)
    merged.merge(reading.cold_latencies)
    cold = merged.encode()
  }
  tx.sqlRun(updateSql, ...counts, latencies.encode(), cold, reading.last_cold_start_at ?? 0, ...bucketKey)
}
