import { Problem } from '../contract/errors.ts'
import type { databaseDumpOperations } from '../contract/databases.ts'
import type { Handlers } from '../contract/index.ts'
import { findDatabaseDump, listDatabaseDumps, listEveryDatabaseDump } from '../store/database-dumps.ts'
import type { Tx } from '../store/open.ts'
import type { DatabaseDumpRow } from '../store/tables.ts'
import { projectFor } from './access.ts'
import type { Caller, Context } from './context.ts'
import { databaseOf, reached, showDatabase } from './databases.ts'
import type { FeatureDeps } from './deps.ts'

export function createDatabaseDumpHandlers(deps: FeatureDeps): Pick<Handlers<Context>, keyof typeof databaseDumpOperations> {
  const { databases, dumps } = deps
  const { db } = deps.store
  const projectOf = (caller: Caller, slug: string) => db.read((tx) => projectFor(tx, caller, slug))

  let requests = 0
  /** By project, the request that its database was last put back by. */
  const restoredBy = new Map<string, number>()

  /** One at a time with whatever else is done to the databases of the project. `request`: its number, from when it came. */
  const restore = (projectId: string, request: number, file: AsyncIterable<Uint8Array>, signal: AbortSignal) =>
    reached(
      databases.exclusive(projectId, async () => {
        const row = await databaseOf(deps, projectId)
        // A slow upload would otherwise undo what somebody asked for after it.
        if ((restoredBy.get(projectId) ?? 0) > request)
          throw new Problem(
            'restore_failed',
            'The database was restored from another file while this one was on its way, so this one was not used. Send it again if it is to replace the other.',
          )
        const dump = await dumps.restore(databases.open(row), file, signal)
        restoredBy.set(projectId, request)
        return { database: await showDatabase(deps, row), dump }
      }),
    )

  const fileOf = async (row: DatabaseDumpRow): Promise<AsyncIterable<Uint8Array>> => {
    const file = await dumps.open(row)
    if (!file) throw new Problem('dump_not_found', 'The file of this dump is gone from the disk.')
    return file
  }

  return {
    async listDatabaseDumps({ caller }, { params }) {
      const rows = await db.read((tx) => listDatabaseDumps(tx, projectFor(tx, caller, params.slug).id))
      return { dumps: rows.map(dumps.show) }
    },

    async dumpDatabase({ caller, signal }, { params }) {
      const project = await projectOf(caller, params.slug)
      const write = async () => dumps.write(databases.open(await databaseOf(deps, project.id)), 'manual', signal)
      const dump = await reached(databases.exclusive(project.id, write))
      deps.bus.emit(`project:${project.id}`)
      return { dump }
    },

    async downloadDatabaseDump({ caller }, { params }) {
      return fileOf(await db.read((tx) => dumpFor(tx, caller, params)))
    },

    async restoreDatabase({ caller, signal }, { params }) {
      const request = ++requests
      const row = await db.read((tx) => dumpFor(tx, caller, params))
      await databaseOf(deps, row.project_id)
      const answer = await restore(row.project_id, request, await fileOf(row), signal)
      deps.bus.emit(`project:${row.project_id}`)
      return answer
    },

    async importDatabase({ caller, signal }, { params, upload }) {
      const request = ++requests
      const project = await projectOf(caller, params.slug)
      await databaseOf(deps, project.id)
      const answer = await dumps.receive(upload, signal, (file) => restore(project.id, request, file, signal))
      deps.bus.emit(`project:${project.id}`)
      return answer
    },

    async deleteDatabaseDump(_context, { params }) {
      const row = await db.read((tx) => findDatabaseDump(tx, params.id))
      if (!row) throw noDump()
      await dumps.remove(row)
      deps.bus.emit(`project:${row.project_id}`)
    },

    async listEveryDatabaseDump() {
      const rows = await db.read(listEveryDatabaseDump)
      return { dumps: rows.map(dumps.show) }
    },
  }
}

/** A dump of a project that the caller may see; else the same 404 as for one that is not there. */
export function dumpFor(tx: Tx, caller: Caller, params: { slug: string; id: string }): DatabaseDumpRow {
  const project = projectFor(tx, caller, params.slug)
  const row = findDatabaseDump(tx, params.id)
  if (!row || row.project_id !== project.id) throw noDump()
  return row
}

const noDump = () => new Problem('dump_not_found', 'There is no such dump in this project.')
