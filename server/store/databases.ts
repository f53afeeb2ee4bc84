import type { RuntimeName } from '../contract/runtimes.ts'
import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { DatabaseRow } from './tables.ts'

/** Branch '' is the project's own database; other branches are those of its previews. */
export const findDatabase = first((projectId: string, branch: string) =>
  tables.selectFrom('databases').selectAll().where('project_id', '=', projectId).where('branch', '=', branch),
)

export const listDatabasesOfProject = all((projectId: string) =>
  tables.selectFrom('databases').selectAll().where('project_id', '=', projectId).orderBy('branch'),
)

/** Databases whose creation was interrupted when the last run ended. */
export const listUnreadyDatabases = all(() => tables.selectFrom('databases').selectAll().where('is_ready', '=', 0))

/** The databases that an instance backup includes. */
export const listReadyDatabases = all(() =>
  tables.selectFrom('databases').selectAll().where('is_ready', '=', 1).orderBy('project_id').orderBy('branch'),
)

export const findDatabaseByName = first((dbName: string) => tables.selectFrom('databases').selectAll().where('db_name', '=', dbName))

export const updateDatabaseDriver = run((dbName: string, driver: RuntimeName) =>
  tables.updateTable('databases').set({ driver }).where('db_name', '=', dbName),
)

const listDrivers = all(() => tables.selectFrom('databases').select('driver').distinct())
export const listDatabaseDrivers = (tx: Tx): RuntimeName[] => listDrivers(tx).map((row) => row.driver)

/** False if the database already exists, ready or not. */
export function insertDatabase(tx: Tx, row: DatabaseRow): boolean {
  if (findDatabase(tx, row.project_id, row.branch)) return false
  tx.run(tables.insertInto('databases').values(row))
  return true
}

/** False if the row was deleted meanwhile. */
export const markDatabaseReady = exists((dbName: string) =>
  tables.updateTable('databases').set({ is_ready: 1 }).where('db_name', '=', dbName).returning('db_name'),
)

export const deleteDatabase = run((dbName: string) => tables.deleteFrom('databases').where('db_name', '=', dbName))
