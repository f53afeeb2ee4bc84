import { Problem } from '../contract/errors.ts'
import type { databaseDumpOperations } from '../contract/databases.ts'
import { createPostgresDumpSource, type DumpSource } from '../database/dump-source.ts'
import { createMariadbDumpSource } from '../database/mariadb-dump.ts'
import { listManagedServices } from '../store/managed-services.ts'
import type { ProjectRow } from '../store/tables.ts'
import { findDatabaseDump, listDatabaseDumps, listAllDatabaseDumps } from '../store/database-dumps.ts'
import type { DatabaseDumpRow } from '../store/database-tables.ts'
import { dumpNotFound } from './access.ts'
import type { OperationHandlers } from './context.ts'
import { requireDatabase, translateDatabaseErrors, readDatabase } from './databases.ts'
import type { FeatureDeps } from './deps.ts'

export function createDatabaseDumpHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof databaseDumpOperations> {
  const { databases, dumps } = deps
  const { db } = deps.store

  /** The database of a request: PostgreSQL's, or that of a managed service. */
  const openSource = async (project: ProjectRow, service: string): Promise<DumpSource> => {
    if (service === '') return createPostgresDumpSource(databases.open(await requireDatabase(deps, project.id)))
    const rows = await db.read((tx) => listManagedServices(tx, project.id))
    if (!rows.some(({ name, removed_at }) => name === service && removed_at === null))
      throw new Problem(
        'service_not_found',
        `This project has no managed service “${service}”. Add it with homeport services ${project.slug} add ${service}.`,
      )
    const environment = { project_id: project.id, branch: undefined }
    return createMariadbDumpSource(project.id, service, (command, input, signal) =>
      deps.deployments.services.runCommand(environment, service, command, input, signal),
    )
  }

  let requestCount = 0
  /** By project and service: the number of the request that last restored its database. */
  const lastRestoreRequests = new Map<string, number>()

  /** Runs exclusively with all other work on the project's databases. `request`: its number in order of arrival. */
  const restoreInOrder = (project: ProjectRow, service: string, requestNumber: number, file: AsyncIterable<Uint8Array>, signal: AbortSignal) =>
    translateDatabaseErrors(
      databases.exclusive(project.id, async () => {
        const source = await openSource(project, service)
        const key = `${project.id} ${service}`
        // A slow upload would otherwise overwrite a later restore.
        if ((lastRestoreRequests.get(key) ?? 0) > requestNumber)
          throw new Problem(
            'restore_failed',
            'The database was restored from another file during this upload, so this file was not used. Send it again to replace the other.',
          )
        const dump = await dumps.restore(source, file, signal)
        deps.store.events.publish({ type: 'project_changed', id: project.id })
        lastRestoreRequests.set(key, requestNumber)
        return { database: service === '' ? await readDatabase(deps, await requireDatabase(deps, project.id)) : null, dump }
      }),
    )

  const openDumpFile = async (row: DatabaseDumpRow): Promise<AsyncIterable<Uint8Array>> => {
    const file = await dumps.open(row)
    if (!file) throw new Problem('dump_not_found', 'The file of this dump is missing on the disk.')
    return file
  }

  return {
    async listDatabaseDumps({ project }, { query: { service = '' } }) {
      const rows = await db.read((tx) => listDatabaseDumps(tx, project.id, service))
      return { dumps: rows.map(dumps.show) }
    },

    async dumpDatabase({ project, signal }, { query: { service = '', name } }) {
      const write = async () => dumps.write(await openSource(project, service), 'manual', signal, name)
      return { dump: await translateDatabaseErrors(databases.exclusive(project.id, write)) }
    },

    async downloadDatabaseDump({ dump }) {
      return openDumpFile(dump)
    },

    async restoreDatabase({ project, dump, signal }) {
      const requestNumber = ++requestCount
      await openSource(project, dump.service)
      return restoreInOrder(project, dump.service, requestNumber, await openDumpFile(dump), signal)
    },

    async importDatabase({ project, signal }, { upload, query: { service = '' } }) {
      const requestNumber = ++requestCount
      await openSource(project, service)
      return dumps.receive(upload, signal, (file) => restoreInOrder(project, service, requestNumber, file, signal))
    },

    async renameDatabaseDump({ dump }, { body: { name } }) {
      return { dump: await dumps.rename(dump, name ?? '') }
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
