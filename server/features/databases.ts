import type { Database } from '../contract/databases.ts'
import { Problem } from '../contract/errors.ts'
import { DatabaseUnavailableError } from '../database/database-server.ts'
import { connectionString, type DatabaseDetails } from '../database/database-service.ts'
import { DumpError } from '../database/dump-database.ts'
import { DatabaseRestoreError } from '../database/restore-database.ts'
import { findAccount } from '../store/users.ts'
import type { DatabaseRow } from '../store/database-tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'
import { redeployInTransaction, requireRedeployable } from './redeploy.ts'

type DatabaseHandlers = Pick<OperationHandlers, 'createDatabase' | 'getDatabase' | 'findDatabase' | 'deleteDatabase'>

export function createDatabaseHandlers(deps: FeatureDeps): DatabaseHandlers {
  const { databases } = deps
  const { db } = deps.store

  return {
    async createDatabase({ project }) {
      await db.read((tx) => {
        const account = findAccount(tx, project.account_id)
        if (account) preconditions.requirePaymentMethod(account, 'A database', deps.clock.now())
        requireRedeployable(tx, deps, project)
      })
      const created = await translateDatabaseErrors(databases.create(project.id, (tx) => redeployInTransaction(tx, deps, project.id)))
      if (!created) throw new Problem('database_exists', 'This project already has a database. Delete it first to start with an empty one.')
      return { database: presentDatabase(deps, created.row, created.details), deployment_id: created.result ?? null }
    },

    async getDatabase({ project }) {
      return { database: await readDatabase(deps, await requireDatabase(deps, project.id)) }
    },

    async findDatabase({ project }) {
      try {
        return { database: await readDatabase(deps, await requireDatabase(deps, project.id)), unavailable: null }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (error.code === 'database_not_found') return { database: null, unavailable: null }
        if (error.code === 'database_unavailable') return { database: null, unavailable: error.message }
        throw error
      }
    },

    async deleteDatabase({ project }) {
      await db.read((tx) => requireRedeployable(tx, deps, project))
      const removed = await translateDatabaseErrors(databases.remove(project.id, (tx) => redeployInTransaction(tx, deps, project.id)))
      if (!removed) throw databaseNotFound()
    },
  }
}

/** The database of a project. Throws a `Problem` if it does not exist or is not ready. */
export async function requireDatabase(deps: FeatureDeps, projectId: string): Promise<DatabaseRow> {
  const row = await deps.databases.find(projectId)
  if (!row) throw databaseNotFound()
  if (row.is_ready === 0) {
    const message = (await deps.databases.progress(row)) ?? 'The database is being created. Try again in a moment.'
    throw new Problem('database_unavailable', message, { retry_after_s: 2 })
  }
  return row
}

export async function readDatabase(deps: FeatureDeps, row: DatabaseRow): Promise<Database> {
  try {
    return presentDatabase(deps, row, await translateDatabaseErrors(deps.databases.inspect(row)))
  } catch (error) {
    // It may have been dropped in the meantime.
    if (await deps.databases.find(row.project_id)) throw error
    throw databaseNotFound()
  }
}

function presentDatabase(deps: FeatureDeps, row: DatabaseRow, { host, port, engine_version, size_bytes }: DatabaseDetails): Database {
  const { spec } = deps.databases.open(row)
  const connection_string = connectionString(spec, { host, port })
  return { ...spec, host, port, connection_string, engine: 'postgresql', engine_version, size_bytes, created_at: row.created_at }
}

/** Converts errors of the database server to problems of the contract. */
export async function translateDatabaseErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DatabaseUnavailableError)
      throw new Problem('database_unavailable', `${error.message} ${error.hint}`, { cause: error.cause, retry_after_s: 5 })
    // The disk of the database server, which may not be the disk of the instance.
    if (/No space left on device|The disk of the database server is full/.test(String(error)))
      throw new Problem('storage_full', 'The disk of the database server is full. Free some space and try again.', { cause: error })
    if (error instanceof DumpError) throw new Problem('database_unavailable', `${error.message}. Nothing was changed.`, { cause: error.cause })
    if (error instanceof DatabaseRestoreError) throw new Problem('restore_failed', `${error.message}. Nothing was changed.`)
    throw error
  }
}

const databaseNotFound = () => new Problem('database_not_found', 'This project has no database. Create one first.')
