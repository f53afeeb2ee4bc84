import type { Database } from '../contract/databases.ts'
import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import { DatabaseUnavailable } from '../database/database.ts'
import { connectionString, type Place } from '../database/databases.ts'
import { DumpFailed } from '../database/dump.ts'
import { RestoreFailed } from '../database/restore.ts'
import { findAccount } from '../store/people.ts'
import type { DatabaseRow, ProjectRow } from '../store/tables.ts'
import { projectFor } from './access.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as gates from './gates.ts'
import { redeployWithin, requireRedeployable } from './redeploy.ts'

type DatabaseHandlers = Pick<Handlers<Context>, 'createDatabase' | 'getDatabase' | 'findDatabase' | 'deleteDatabase'>

export function createDatabaseHandlers(deps: FeatureDeps): DatabaseHandlers {
  const { databases, bus } = deps
  const { db } = deps.store

  /** The project, when the plan of its account lets it have a database. */
  const entitled = (caller: Context['caller'], slug: string): Promise<ProjectRow> =>
    db.read((tx) => {
      const project = projectFor(tx, caller, slug)
      const account = findAccount(tx, project.account_id)
      if (account) gates.cardGiven(account, 'A database', deps.clock.now())
      requireRedeployable(tx, deps, project)
      return project
    })

  return {
    async createDatabase({ caller }, { params }) {
      const project = await entitled(caller, params.slug)
      const made = await reached(databases.create(project.id, (tx) => redeployWithin(tx, deps, project.id)))
      if (!made) throw new Problem('database_exists', 'This project has a database already. Delete it first to begin with an empty one.')
      made.result?.begin()
      bus.emit(`project:${project.id}`)
      return { database: present(deps, made.row, made.place), deployment_id: made.result?.deployment_id ?? null }
    },

    async getDatabase({ caller }, { params }) {
      const project = await db.read((tx) => projectFor(tx, caller, params.slug))
      return { database: await showDatabase(deps, await databaseOf(deps, project.id)) }
    },

    async findDatabase({ caller }, { params }) {
      const project = await db.read((tx) => projectFor(tx, caller, params.slug))
      try {
        return { database: await showDatabase(deps, await databaseOf(deps, project.id)), unavailable: null }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (error.code === 'database_not_found') return { database: null, unavailable: null }
        if (error.code === 'database_unavailable') return { database: null, unavailable: error.message }
        throw error
      }
    },

    async deleteDatabase({ caller }, { params }) {
      const project = await db.read((tx) => {
        const found = projectFor(tx, caller, params.slug)
        requireRedeployable(tx, deps, found)
        return found
      })
      const removed = await reached(databases.remove(project.id, (tx) => redeployWithin(tx, deps, project.id)))
      if (!removed) throw noDatabase()
      removed.result?.begin()
      bus.emit(`project:${project.id}`)
    },
  }
}

/** The database of a project that is there to be used; else the Problem that says why not. */
export async function databaseOf(deps: FeatureDeps, projectId: string): Promise<DatabaseRow> {
  const row = await deps.databases.find(projectId)
  if (!row) throw noDatabase()
  if (row.is_ready === 0) {
    const message = (await deps.databases.progress(row)) ?? 'The database is being made. Ask again in a moment.'
    throw new Problem('database_unavailable', message, { retry_after_s: 2 })
  }
  return row
}

export async function showDatabase(deps: FeatureDeps, row: DatabaseRow): Promise<Database> {
  try {
    return present(deps, row, await reached(deps.databases.look(row)))
  } catch (error) {
    // It may have been dropped while we looked.
    if (await deps.databases.find(row.project_id)) throw error
    throw noDatabase()
  }
}

function present(deps: FeatureDeps, row: DatabaseRow, { host, port, engine_version, size_bytes }: Place): Database {
  const { spec } = deps.databases.open(row)
  const connection_string = connectionString(spec, { host, port })
  return { ...spec, host, port, connection_string, engine: 'postgresql', engine_version, size_bytes, created_at: row.created_at }
}

/** What a server that is away refuses, in the words of the contract. */
export async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DatabaseUnavailable)
      throw new Problem('database_unavailable', `${error.message} ${error.hint}`, { cause: error.cause, retry_after_s: 5 })
    // The server's own disk, which may be another than ours.
    if (/No space left on device/.test(String(error)))
      throw new Problem('storage_full', 'The disk of the database server is full. Free some space and try again.', { cause: error })
    if (error instanceof DumpFailed) throw new Problem('database_unavailable', `${error.message}. Nothing was changed.`, { cause: error.cause })
    if (error instanceof RestoreFailed) throw new Problem('restore_failed', `${error.message}. The database is as it was.`)
    throw error
  }
}

const noDatabase = () => new Problem('database_not_found', 'This project has no database. Make one first.')
