import { Problem } from '../contract/errors.ts'
import type { databaseDumpOperations } from '../contract/databases.ts'
import { findDatabaseDump, listDatabaseDumps, listAllDatabaseDumps } from '../store/database-dumps.ts'
import type { DatabaseDumpRow } from '../store/database-tables.ts'
import { dumpNotFound } from './access.ts'
import type { OperationHandlers } from './context.ts'
import { requireDatabase, translateDatabaseErrors, readDatabase } from './databases.ts'
import type { FeatureDeps } from './deps.ts'

export function createDatabaseDumpHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof databaseDumpOperations> {
  const { databases, dumps } = deps
  const { db } = deps.store

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
    async listDatabaseDumps({ project }) {
      const rows = await db.read((tx) => listDatabaseDumps(tx, project.id))
      return { dumps: rows.map(dumps.show) }
    },

    async dumpDatabase({ project, signal }) {
      const write = async () => dumps.write(databases.open(await requireDatabase(deps, project.id)), 'manual', signal)
      return { dump: await translateDatabaseErrors(databases.exclusive(project.id, write)) }
    },

    async downloadDatabaseDump({ dump }) {
      return openDumpFile(dump)
    },

    async restoreDatabase({ project, dump, signal }) {
      const requestNumber = ++requestCount
      await requireDatabase(deps, project.id)
      return restoreInOrder(project.id, requestNumber, await openDumpFile(dump), signal)
    },

    async importDatabase({ project, signal }, { upload }) {
      const requestNumber = ++requestCount
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
