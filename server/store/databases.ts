import type { PostgresVersion } from '../contract/postgres-versions.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { DatabaseRow } from './database-tables.ts'

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

/** For a restore, after which no other server has data of this database. */
export const moveDatabase = run((dbName: string, driver: RuntimeName, version: PostgresVersion) =>
  tables.updateTable('databases').set({ driver, version, upgrading_to: null, previous_version: null }).where('db_name', '=', dbName),
)

export const updateDatabaseVersions = run(
  (dbName: string, version: PostgresVersion, upgrading_to: PostgresVersion | null, previous_version: PostgresVersion | null) =>
    tables.updateTable('databases').set({ version, upgrading_to, previous_version }).where('db_name', '=', dbName),
)

/** Databases whose upgrade was interrupted when the last run ended. */
export const listUpgradingDatabases = all(() => tables.selectFrom('databases').selectAll().where('upgrading_to', 'is not', null))

const listUses = all(() => tables.selectFrom('databases').select(['driver', 'version', 'upgrading_to', 'previous_version']).distinct())

/** The servers that have databases, each once. */
export function listDatabaseServers(tx: Tx): { driver: RuntimeName; version: PostgresVersion }[] {
  const servers = new Map<string, { driver: RuntimeName; version: PostgresVersion }>()
  for (const { driver, version, upgrading_to, previous_version } of listUses(tx))
    for (const used of [version, upgrading_to, previous_version]) if (used !== null) servers.set(`${driver} ${used}`, { driver, version: used })
  return [...servers.values()]
}

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
