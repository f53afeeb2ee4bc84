import type { RuntimeName } from '../contract/runtimes.ts'
import type { Tx } from './store.ts'
import type { DatabaseRow } from './tables.ts'

/** Branch '' is the project's own database; other branches are those of its previews. */
export function findDatabase(tx: Tx, projectId: string, branch: string): DatabaseRow | undefined {
  return tx.sqlFirst('SELECT * FROM databases WHERE project_id = ? AND branch = ?', projectId, branch)
}

export function listDatabasesOfProject(tx: Tx, projectId: string): DatabaseRow[] {
  return tx.sqlAll('SELECT * FROM databases WHERE project_id = ? ORDER BY branch', projectId)
}

/** Databases whose creation was interrupted when the last run ended. */
export function listUnreadyDatabases(tx: Tx): DatabaseRow[] {
  return tx.sqlAll('SELECT * FROM databases WHERE is_ready = 0')
}

/** The databases that an instance backup includes. */
export function listReadyDatabases(tx: Tx): DatabaseRow[] {
  return tx.sqlAll('SELECT * FROM databases WHERE is_ready = 1 ORDER BY project_id, branch')
}

export function findDatabaseByName(tx: Tx, db_name: string): DatabaseRow | undefined {
  return tx.sqlFirst('SELECT * FROM databases WHERE db_name = ?', db_name)
}

export function updateDatabaseDriver(tx: Tx, db_name: string, driver: RuntimeName): void {
  tx.sqlRun('UPDATE databases SET driver = ? WHERE db_name = ?', driver, db_name)
}

export function listDatabaseDrivers(tx: Tx): RuntimeName[] {
  return tx.sqlAll<{ driver: RuntimeName }>('SELECT DISTINCT driver FROM databases').map((row) => row.driver)
}

/** False if the database already exists, ready or not. */
export function insertDatabase(tx: Tx, row: DatabaseRow): boolean {
  if (findDatabase(tx, row.project_id, row.branch)) return false
  tx.run(tx.query.insertInto('databases').values(row))
  return true
}

/** False if the row was deleted meanwhile. */
export function markDatabaseReady(tx: Tx, db_name: string): boolean {
  tx.sqlRun('UPDATE databases SET is_ready = 1 WHERE db_name = ?', db_name)
  return tx.sqlFirst('SELECT 1 AS one FROM databases WHERE db_name = ?', db_name) !== undefined
}

export function deleteDatabase(tx: Tx, db_name: string): void {
  tx.sqlRun('DELETE FROM databases WHERE db_name = ?', db_name)
}
