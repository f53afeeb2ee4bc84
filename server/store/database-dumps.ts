import type { Tx } from './store.ts'
import type { DatabaseDumpRow } from './tables.ts'

export function insertDatabaseDump(tx: Tx, row: Omit<DatabaseDumpRow, 'seq'>): void {
  tx.run(tx.query.insertInto('database_dumps').values(row))
}

/** Newest first. */
export function listDatabaseDumps(tx: Tx, projectId: string): DatabaseDumpRow[] {
  return tx.sqlAll('SELECT * FROM database_dumps WHERE project_id = ? ORDER BY seq DESC', projectId)
}

/** Includes dumps of deleted projects. */
export function listAllDatabaseDumps(tx: Tx): DatabaseDumpRow[] {
  return tx.sqlAll('SELECT * FROM database_dumps ORDER BY seq DESC')
}

export function findDatabaseDump(tx: Tx, id: string): DatabaseDumpRow | undefined {
  return tx.sqlFirst('SELECT * FROM database_dumps WHERE id = ?', id)
}

export function deleteDatabaseDump(tx: Tx, id: string): void {
  tx.sqlRun('DELETE FROM database_dumps WHERE id = ?', id)
}

/** Finds the slug even of a deleted project that is not cleaned up yet, because its dumps keep the slug. */
export function findProjectSlug(tx: Tx, projectId: string): string | undefined {
  return tx.sqlFirst<{ slug: string }>('SELECT slug FROM projects WHERE id = ?', projectId)?.slug
}
