import { historyBuckets } from '../contract/metrics-ranges.ts'
import type { UsageRow } from './log-tables.ts'
import { metricsRollups } from './metrics-store.ts'
import { all, first, metricsTables, run } from './query.ts'
import type { SqliteDatabase, SqliteTransaction } from './sqlite.ts'

/** One sample of a service: the average use of the CPU since the previous sample, and the memory now. */
export interface UsageSampleRow {
  project_id: string
  /** Empty for the app itself, or its main service. */
  service: string
  /** From 1; 0: all replicas of the service together. */
  replica: number
  /** Seconds since 1970. */
  ts: number
  cpu_percent: number
  memory_mb: number
}

/** CPU and memory of apps over time, in rows that age like those of requests. */
export interface UsageStore {
  /** Adds samples in one transaction. */
  add(samples: readonly UsageSampleRow[]): void
  /** The stored rows of a project since a time, in order. */
  readSince(projectId: string, ts: number): UsageRow[]
  /** Start of the oldest stored row of a project, in seconds since 1970. */
  readFirst(projectId: string): number | undefined
  /** Merges aged rows into longer ones and deletes expired ones, at most `rows` rows. True if more remain. */
  downsample(now_s: number, rows: number): boolean
  remove(projectId: string): Promise<void>
}

const listSince = all((projectId: string, ts: number) =>
  metricsTables.selectFrom('usage').selectAll().where('project_id', '=', projectId).where('ts', '>=', ts).orderBy('ts'),
)
const findFirst = first((projectId: string) =>
  metricsTables.selectFrom('usage').select('ts').where('project_id', '=', projectId).orderBy('ts').limit(1),
)
const listAged = all((seconds: number, before: number, limit: number) =>
  metricsTables.selectFrom('usage').selectAll().where('seconds', '=', seconds).where('ts', '<', before).orderBy('ts').limit(limit),
)
const findRow = first((projectId: string, ts: number, seconds: number, service: string, replica: number) =>
  metricsTables
    .selectFrom('usage')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('ts', '=', ts)
    .where('seconds', '=', seconds)
    .where('service', '=', service)
    .where('replica', '=', replica),
)
const deleteRow = run((projectId: string, ts: number, seconds: number, service: string, replica: number) =>
  metricsTables
    .deleteFrom('usage')
    .where('project_id', '=', projectId)
    .where('ts', '=', ts)
    .where('seconds', '=', seconds)
    .where('service', '=', service)
    .where('replica', '=', replica),
)
/** The primary key. */
const keyOf = ({ project_id, ts, seconds, service, replica }: UsageRow) => [project_id, ts, seconds, service, replica] as const
const deleteOfProject = run((projectId: string) => metricsTables.deleteFrom('usage').where('project_id', '=', projectId))

export function createUsageStore(db: SqliteDatabase): UsageStore {
  return {
    add(samples) {
      const { seconds } = historyBuckets.live
      db.writeSync((tx) => {
        for (const { project_id, service, replica, ts, cpu_percent, memory_mb } of samples)
          addRow(tx, {
            project_id,
            service,
            replica,
            ts: Math.floor(ts / seconds) * seconds,
            seconds,
            samples: 1,
            cpu_sum: cpu_percent,
            memory_max: memory_mb,
          })
      })
    },

    readSince: (projectId, ts) => db.readSync((tx) => listSince(tx, projectId, ts)),

    readFirst: (projectId) => db.readSync((tx) => findFirst(tx, projectId))?.ts,

    downsample: (now_s, rows) =>
      db.writeSync((tx) => {
        let left = rows
        for (const { seconds, into, after_s } of metricsRollups) {
          if (left <= 0) break
          const unit = into ?? seconds
          const aged = listAged(tx, seconds, Math.floor((now_s - after_s) / unit) * unit, left)
          for (const row of aged) {
            if (into !== undefined) addRow(tx, { ...row, ts: Math.floor(row.ts / into) * into, seconds: into })
            deleteRow(tx, ...keyOf(row))
          }
          left -= aged.length
        }
        return left <= 0
      }),

    async remove(projectId) {
      await db.write((tx) => deleteOfProject(tx, projectId))
    },
  }
}

function addRow(tx: SqliteTransaction, row: UsageRow): void {
  const stored = findRow(tx, ...keyOf(row))
  if (!stored) return void tx.run(metricsTables.insertInto('usage').values(row))
  deleteRow(tx, ...keyOf(row))
  const { samples, cpu_sum, memory_max } = stored
  tx.run(
    metricsTables
      .insertInto('usage')
      .values({ ...row, samples: samples + row.samples, cpu_sum: cpu_sum + row.cpu_sum, memory_max: Math.max(memory_max, row.memory_max) }),
  )
}
