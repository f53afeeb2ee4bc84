import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { DatabaseDumpRow } from './database-tables.ts'

export function insertDatabaseDump(tx: Tx, row: Omit<DatabaseDumpRow, 'seq'>): void {
  tx.run(tables.insertInto('database_dumps').values(row))
}

/** Newest first. */
export const listDatabaseDumps = all((projectId: string, service: string) =>
  tables.selectFrom('database_dumps').selectAll().where('project_id', '=', projectId).where('service', '=', service).orderBy('seq', 'desc'),
)

/** Includes dumps of deleted projects. */
export const listAllDatabaseDumps = all(() => tables.selectFrom('database_dumps').selectAll().orderBy('seq', 'desc'))

export const findDatabaseDump = first((id: string) => tables.selectFrom('database_dumps').selectAll().where('id', '=', id))

export const renameDatabaseDump = run((id: string, name: string) => tables.updateTable('database_dumps').set({ name }).where('id', '=', id))

export const deleteDatabaseDump = run((id: string) => tables.deleteFrom('database_dumps').where('id', '=', id))

const findSlug = first((projectId: string) => tables.selectFrom('projects').select('slug').where('id', '=', projectId))

/** Finds the slug even of a deleted project that is not cleaned up yet, because its dumps keep the slug. */
export const findProjectSlug = (tx: Tx, projectId: string): string | undefined => findSlug(tx, projectId)?.slug
