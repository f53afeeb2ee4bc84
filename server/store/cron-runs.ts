import type { CronRun } from '../contract/services.ts'
import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { CronRunRow } from './tables.ts'

/** The runs to keep per service. */
const keptRuns = 200

/** Stores a run and drops old ones. Returns false when this service already has a run for that time. */
export function insertCronRun(tx: Tx, row: Omit<CronRunRow, 'seq'>): boolean {
  if (row.trigger === 'schedule' && hasScheduledRun(tx, row.project_id, row.service, row.scheduled_at)) return false
  tx.run(tables.insertInto('cron_runs').values(row))
  const oldest = findOldestKept(tx, row.project_id, row.service)
  if (oldest) deleteBefore(tx, row.project_id, row.service, oldest.seq)
  return true
}

const hasScheduledRun = exists((project_id: string, service: string, scheduled_at: string) =>
  tables
    .selectFrom('cron_runs')
    .select('id')
    .where('project_id', '=', project_id)
    .where('service', '=', service)
    .where('scheduled_at', '=', scheduled_at)
    .where('trigger', '=', 'schedule'),
)

const findOldestKept = first((project_id: string, service: string) =>
  tables
    .selectFrom('cron_runs')
    .select('seq')
    .where('project_id', '=', project_id)
    .where('service', '=', service)
    .orderBy('seq', 'desc')
    .limit(1)
    .offset(keptRuns - 1),
)

const deleteBefore = run((project_id: string, service: string, seq: number) =>
  tables
    .deleteFrom('cron_runs')
    .where('project_id', '=', project_id)
    .where('service', '=', service)
    .where('seq', '<', seq)
    .where('status', '!=', 'running'),
)

/** As the API shows it. */
export const toCronRun = ({ seq: _seq, project_id: _project, ...run }: CronRunRow): CronRun => run

export function updateCronRun(tx: Tx, id: string, change: Partial<Omit<CronRun, 'id'>>): void {
  tx.run(tables.updateTable('cron_runs').set(change).where('id', '=', id))
}

const listRuns = all((project_id: string, service: string, before: number, limit: number) =>
  tables
    .selectFrom('cron_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('service', '=', service)
    .where('seq', '<', before)
    .orderBy('seq', 'desc')
    .limit(limit),
)

/** Newest first. */
export const listCronRuns = (tx: Tx, projectId: string, service: string, limit: number, before = Number.MAX_SAFE_INTEGER): CronRunRow[] =>
  listRuns(tx, projectId, service, before, limit)

export const findLastScheduledRun = first((project_id: string, service: string) =>
  tables
    .selectFrom('cron_runs')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('service', '=', service)
    .where('trigger', '=', 'schedule')
    .orderBy('scheduled_at', 'desc')
    .limit(1),
)

/** Ends the runs that the end of the platform interrupted. */
export const interruptCronRuns = run((finished_at: string, message: string) =>
  tables.updateTable('cron_runs').set({ status: 'interrupted', finished_at, message }).where('status', '=', 'running'),
)
