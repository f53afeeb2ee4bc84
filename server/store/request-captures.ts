import { all, first, run, tables } from './query.ts'
import type { RequestCaptureRow } from './request-tables.ts'
import type { Tx } from './store.ts'

/** The capture settings of a project; none until they are first set. */
export const findRequestCapture = first((projectId: string) => tables.selectFrom('request_captures').selectAll().where('project_id', '=', projectId))

export const listRequestCaptures = all((now: number) => tables.selectFrom('request_captures').selectAll().where('until', '>', now))

export const saveRequestCapture = (tx: Tx, row: RequestCaptureRow): void => void tx.run(tables.replaceInto('request_captures').values(row))

export const endRequestCapture = run((projectId: string) =>
  tables.updateTable('request_captures').set({ until: 0 }).where('project_id', '=', projectId),
)
