import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ForkRow } from './managed-tables.ts'

export const findFork = first((projectId: string, branch: string) =>
  tables.selectFrom('forks').selectAll().where('project_id', '=', projectId).where('branch', '=', branch),
)

export const listForks = all((projectId: string) => tables.selectFrom('forks').selectAll().where('project_id', '=', projectId).orderBy('branch'))

/** Copies that the end of the last run interrupted. */
export const listUnfinishedForks = all(() => tables.selectFrom('forks').selectAll().where('undo', 'is not', null))

export function putFork(tx: Tx, row: ForkRow): void {
  tx.run(tables.replaceInto('forks').values(row))
}

export const deleteFork = run((projectId: string, branch: string) =>
  tables.deleteFrom('forks').where('project_id', '=', projectId).where('branch', '=', branch),
)
