import { Problem } from '../contract/errors.ts'
import type { databaseDumpOperations } from '../contract/databases.ts'
import type { Handlers } from '../contract/index.ts'
import { findDatabaseDump, listDatabaseDumps, listAllDatabaseDumps } from '../store/database-dumps.ts'
import type { Tx } from '../store/store.ts'
import type { DatabaseDumpRow } from '../store/tables.ts'
import { requireProject } from './access.ts'
import type { Caller, OperationContext } from './context.ts'
import { requireDatabase, translateDatabaseErrors, readDatabase } from './databases.ts'
import type { FeatureDeps } from './deps.ts'

export function createDatabaseDumpHandlers(deps: FeatureDeps): Pick<Handlers<OperationContext>, keyof typeof databaseDumpOperations> {
  const { databases, dumps } = deps
  const { db } = deps.store
  const readProject = (caller: Caller, slug: string) => db.read((tx) => requireProject(tx, caller, slug))

  let requestCount = 0
  /** By project: the number of the request that last restored its database. */
  const lastRestoreRequests = new Map<string, number>()

  /** Runs exclusively with all other work on the project's databases. `request`: its number in order of arrival. */
  const restoreInOrder = (projectId: string, requestNumber: number, file: AsyncIterable<Uint8Array>, signal: AbortSignal) =>
    translateDatabaseErrors(
      databases.exclusive(projectId, async () => {
        const row = await requireDatabase(deps, projectId)
        // A slow upload would otherwise overwrite a later restore.
        if ((lastRestoreRequests.get(projectId) ?? 0) > requestNumber)
          throw new Problem(
            'restore_failed',
            'The database was restored from another file during this upload, so this file was not used. Send it again to replace the other.',
          )
        const dump = await dumps.restore(databases.open(row), file, signal)
        deps.store.events.publish({ type: 'project_changed', id: projectId })
        lastRestoreRequests.set(projectId, requestNumber)
        return { database: await readDatabase(deps, row), dump }
      }),
    )

  const openDumpFile = async (row: DatabaseDumpRow): Promise<AsyncIterable<Uint8Array>> => {
    const file = await dumps.open(row)
    if (!file) throw new Problem('dump_not_found', 'The file of this dump is missing on the disk.')
    return file
  }

  return {
    async listDatabaseDumps({ caller }, { params }) {
      const rows = await db.read((tx) => listDatabaseDumps(tx, requireProject(tx, caller, params.slug).id))
      return { dumps: rows.map(dumps.show) }
    },

    async dumpDatabase({ caller, signal }, { params }) {
      const project = await readProject(caller, params.slug)
      const write = async () => dumps.write(databases.open(await requireDatabase(deps, project.id)), 'manual', signal)
      return { dump: await translateDatabaseErrors(databases.exclusive(project.id, write)) }
    },

    async downloadDatabaseDump({ caller }, { params }) {
      return openDumpFile(await db.read((tx) => requireDatabaseDump(tx, caller, params)))
    },

    async restoreDatabase({ caller, signal }, { params }) {
      const requestNumber = ++requestCount
      const row = await db.read((tx) => requireDatabaseDump(tx, caller, params))
      await requireDatabase(deps, row.project_id)
      return restoreInOrder(row.project_id, requestNumber, await openDumpFile(row), signal)
    },

    async importDatabase({ caller, signal }, { params, upload }) {
      const requestNumber = ++requestCount
      const project = await readProject(caller, params.slug)
      await requireDatabase(deps, project.id)
      return dumps.receive(upload, signal, (file) => restoreInOrder(project.id, requestNumber, file, signal))
    },

    async deleteDatabaseDump(_context, { params }) {
      const row = await db.read((tx) => findDatabaseDump(tx, params.id))
      if (!row) throw dumpNotFound()
      await dumps.remove(row)
    },

    async listEveryDatabaseDump() {
      const rows = await db.read(listAllDatabaseDumps)
      return { dumps: rows.map(dumps.show) }
    },
  }
}

/** A dump that the caller may see, else a 404. */
export function requireDatabaseDump(tx: Tx, caller: Caller, params: { slug: string; id: string }): DatabaseDumpRow {
  const project = requireProject(tx, caller, params.slug)
  const row = findDatabaseDump(tx, params.id)
  if (!row || row.project_id !== project.id) throw dumpNotFound()
  return row
}

const dumpNotFound = () => new Problem('dump_not_found', 'This project has no dump with this ID.')
