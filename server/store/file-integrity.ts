import Sqlite from 'better-sqlite3'
import { type DatabaseCopyReader, readDatabaseCopy } from './database-copy.ts'
import { logMigrations, metricsMigrations, migrations } from './migrations/index.ts'

const migrationsByFile = { main: migrations, logs: logMigrations, metrics: metricsMigrations }
export type StoreFile = keyof typeof migrationsByFile

/** The newest schema version of a file that this Homeport supports. */
export const latestSchemaVersion = (file: StoreFile): number => migrationsByFile[file].length

/**
 * The problem of a file from another source, as the end of a sentence. null: it is intact and contains exactly the expected tables, and no trigger or
 * view.
 */
export function findFileProblem(path: string, file: StoreFile): string | null {
  try {
    return readDatabaseCopy(path, (copy) => {
      if (copy.schemaVersion < 1 || copy.schemaVersion > latestSchemaVersion(file))
        return `is of version ${copy.schemaVersion}, and this Homeport knows ${latestSchemaVersion(file)}`
      const [result] = copy.all<{ integrity_check: string }>('PRAGMA integrity_check(1)')
      if (result?.integrity_check !== 'ok') return `is damaged: ${result?.integrity_check ?? 'no answer'}`
      if (copy.all('PRAGMA foreign_key_check').length > 0) return 'names rows that are not there'
      return describeSchema(copy) === describeExpectedSchema(file, copy.schemaVersion) ? null : 'does not have the tables of this version'
    })
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Tables, indexes, triggers, views and columns by name. The SQL text is ignored, because its format differs between SQLite versions. */
function describeSchema({ all }: Pick<DatabaseCopyReader, 'all'>): string {
  const objects = all<{ type: string; name: string }>(
    "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name",
  )
  const columns = objects
    .filter((object) => object.type === 'table')
    .map(({ name }) => all<{ name: string; type: string; hidden: number }>('SELECT name, type, hidden FROM pragma_table_xinfo(?)', name))
  return JSON.stringify([objects, columns])
}

function describeExpectedSchema(file: StoreFile, version: number): string {
  const raw = new Sqlite(':memory:')
  try {
    for (const step of migrationsByFile[file].slice(0, version)) raw.exec(step.sql)
    return describeSchema({ all: <R>(sql: string, ...parameters: unknown[]) => raw.prepare(sql).all(...parameters) as R[] })
  } finally {
    raw.close()
  }
}
