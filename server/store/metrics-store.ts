import { metricsCounters } from '../contract/metrics-ranges.ts'
import { historyBuckets } from '../contract/metrics-ranges.ts'
import { createHistogram, type Histogram } from '../lib/histogram.ts'
import { all, first, metricsTables, run } from './query.ts'
import type { SqliteDatabase, SqliteTransaction } from './sqlite.ts'
import type { MetricsRow } from './log-tables.ts'

/** The counts of a project within ten seconds, to be added to the stored ones. */
export type MetricsReading = Omit<MetricsRow, 'seconds' | 'latencies' | 'cold_latencies'> & {
  latencies: Histogram
  cold_latencies: Histogram | null
}

export interface MetricsStore {
  /** Adds readings in one transaction. */
  add(readings: readonly MetricsReading[]): void
  /** The stored rows of a project since a time, in order. */
  readSince(projectId: string, ts: number): MetricsRow[]
  /** Start of the oldest stored row of a project, in seconds since 1970. */
  readFirst(projectId: string): number | undefined
  /** Requests per hour since a time, of the last day at most. */
  readHourlyRequests(projectId: string, ts: number): { ts: number; requests: number }[]
  /** Merges aged rows into longer ones and deletes expired ones, at most `rows` rows. True if more remain. */
  downsample(now_s: number, rows: number): boolean
  remove(projectId: string): Promise<void>
}

/** A range shows only rows of its own length or shorter, so each row is kept until no range needs its length. */
export const metricsRollups = Object.values(historyBuckets).map(({ count, seconds }, i, all) => {
  const into = all[i + 1]?.seconds
  return { seconds, into, after_s: count * seconds + (into ?? seconds) }
})
type Rollup = (typeof metricsRollups)[number]

const listSince = all((projectId: string, ts: number) =>
  metricsTables.selectFrom('buckets').selectAll().where('project_id', '=', projectId).where('ts', '>=', ts).orderBy('ts'),
)
const findFirst = first((projectId: string) =>
  metricsTables.selectFrom('buckets').select('ts').where('project_id', '=', projectId).orderBy('ts').limit(1),
)
const listHourlyRequests = all((projectId: string, ts: number) =>
  metricsTables
    .selectFrom('buckets')
    .select((eb) => [eb(eb.parens('ts', '/', 3600), '*', 3600).as('hour'), eb.fn.sum<number>('requests').as('requests')])
    .where('project_id', '=', projectId)
    .where('ts', '>=', ts)
    .where('seconds', '<=', 3600)
    .groupBy('hour'),
)
const listAged = all((seconds: number, before: number, limit: number) =>
  metricsTables.selectFrom('buckets').selectAll().where('seconds', '=', seconds).where('ts', '<', before).orderBy('ts').limit(limit),
)
const findBucket = first((projectId: string, ts: number, seconds: number) =>
  metricsTables.selectFrom('buckets').selectAll().where('project_id', '=', projectId).where('ts', '=', ts).where('seconds', '=', seconds),
)
const deleteBucket = run((projectId: string, ts: number, seconds: number) =>
  metricsTables.deleteFrom('buckets').where('project_id', '=', projectId).where('ts', '=', ts).where('seconds', '=', seconds),
)
const deleteAged = run((seconds: number, before: number, limit: number) =>
  metricsTables
    .deleteFrom('buckets')
    .where((eb) =>
      eb(
        eb.refTuple('project_id', 'ts', 'seconds'),
        'in',
        eb
          .selectFrom('buckets')
          .select(['project_id', 'ts', 'seconds'])
          .where('seconds', '=', seconds)
          .where('ts', '<', before)
          .limit(limit)
          .$asTuple('project_id', 'ts', 'seconds'),
      ),
    ),
)
const deleteOfProject = run((projectId: string) => metricsTables.deleteFrom('buckets').where('project_id', '=', projectId))

export function createMetricsStore(db: SqliteDatabase): MetricsStore {
  return {
    add(readings) {
      if (readings.length > 0)
        db.writeSync((tx) => {
          for (const reading of readings) addToBucket(tx, reading, historyBuckets.live.seconds)
        })
    },

    readSince: (projectId, ts) => db.readSync((tx) => listSince(tx, projectId, ts)),

    readFirst: (projectId) => db.readSync((tx) => findFirst(tx, projectId))?.ts,

    readHourlyRequests: (projectId, ts) =>
      db.readSync((tx) => listHourlyRequests(tx, projectId, ts).map(({ hour, requests }) => ({ ts: hour, requests }))),

    downsample(now_s, rows) {
      return db.writeSync((tx) => {
        let left = rows
        for (const rollup of metricsRollups) if (left > 0) left -= rollUpBatch(tx, rollup, now_s, left)
        return left <= 0
      })
    },

    async remove(projectId) {
      await db.write((tx) => deleteOfProject(tx, projectId))
    },
  }
}

function rollUpBatch(tx: SqliteTransaction, { seconds, into, after_s }: Rollup, now_s: number, limit: number): number {
  if (into === undefined) return deleteAged(tx, seconds, now_s - after_s, limit)
  const expiredRows = listAged(tx, seconds, Math.floor((now_s - after_s) / into) * into, limit)
  for (const row of expiredRows) {
    const latencies = createHistogram(row.latencies)
    const cold_latencies = row.cold_latencies && createHistogram(row.cold_latencies)
    addToBucket(tx, { ...row, ts: Math.floor(row.ts / into) * into, latencies, cold_latencies }, into)
    deleteBucket(tx, row.project_id, row.ts, row.seconds)
  }
  return expiredRows.length
}

function addToBucket(tx: SqliteTransaction, reading: MetricsReading, seconds: number): void {
  const stored = findBucket(tx, reading.project_id, reading.ts, seconds)
  if (!stored) {
    const { project_id, ts, latencies, cold_latencies, last_cold_start_at } = reading
    const counts = Object.fromEntries(metricsCounters.map((name) => [name, reading[name]])) as Pick<MetricsRow, (typeof metricsCounters)[number]>
    tx.run(
      metricsTables.insertInto('buckets').values({
        ...counts,
        project_id,
        ts,
        seconds,
        latencies: latencies.encode(),
        cold_latencies: cold_latencies?.encode() ?? null,
        last_cold_start_at,
      }),
    )
    return
  }
  const latencies = createHistogram(stored.latencies)
  latencies.merge(reading.latencies)
  let { cold_latencies } = stored
  if (reading.cold_latencies) {
    const merged = createHistogram(cold_latencies ?? undefined)
    merged.merge(reading.cold_latencies)
    cold_latencies = merged.encode()
  }
  const last_cold_start_at = Math.max(stored.last_cold_start_at ?? 0, reading.last_cold_start_at ?? 0) || null
  const sum: MetricsRow = { ...stored, latencies: latencies.encode(), cold_latencies, last_cold_start_at }
  for (const name of metricsCounters) sum[name] += reading[name]
  const { project_id, ts, seconds: _, ...change } = sum
  tx.run(metricsTables.updateTable('buckets').set(change).where('project_id', '=', project_id).where('ts', '=', ts).where('seconds', '=', seconds))
}
