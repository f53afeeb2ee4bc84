import type { LogDrainRow } from './log-drain-tables.ts'
import { all, first, insert, run, tables } from './query.ts'
import type { Tx } from './store.ts'

const columns = [
  'id',
  'project_id',
  'kind',
  'name',
  'sealed_address',
  'sealed_headers',
  'sealed_secret',
  'format',
  'sources',
  'environments',
  'is_trusted',
  'is_enabled',
  'revision',
  'started_at',
  'created_at',
] as const
export const insertLogDrain = insert<Omit<LogDrainRow, 'seq'>>(columns, (row) => tables.insertInto('log_drains').values(row))

export const listLogDrains = all((projectId: string) =>
  tables.selectFrom('log_drains').selectAll().where('project_id', '=', projectId).orderBy('seq'),
)

/** The drains of all projects that are not deleted, with the slugs of their projects. */
export const listAllLogDrains = all(() =>
  tables
    .selectFrom('log_drains as d')
    .innerJoin('projects as p', 'p.id', 'd.project_id')
    .selectAll('d')
    .select('p.slug')
    .where('p.deleted_at', 'is', null)
    .orderBy('d.seq'),
)

export const findLogDrain = first((projectId: string, id: string) =>
  tables.selectFrom('log_drains').selectAll().where('id', '=', id).where('project_id', '=', projectId),
)

export function updateLogDrain(tx: Tx, id: string, change: Partial<Omit<LogDrainRow, 'seq' | 'id' | 'project_id' | 'kind' | 'created_at'>>): void {
  tx.run(tables.updateTable('log_drains').set(change).where('id', '=', id))
}

export const deleteLogDrain = run((id: string) => tables.deleteFrom('log_drains').where('id', '=', id))

/** Where a line came from. */
export const findLogOrigin = first((deploymentId: string) =>
  tables.selectFrom('deployments').select(['project_id', 'target', 'branch']).where('id', '=', deploymentId),
)
export type LogOrigin = NonNullable<ReturnType<typeof findLogOrigin>>

/** The newest deployments of a project since a time. */
export const listDeploymentIdsSince = all((projectId: string, since: string, limit: number) =>
  tables
    .selectFrom('deployments')
    .select('id')
    .where('project_id', '=', projectId)
    .where('created_at', '>=', since)
    .orderBy('seq', 'desc')
    .limit(limit),
)
