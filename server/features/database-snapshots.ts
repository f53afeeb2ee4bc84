import type { DatabaseDump } from '../contract/databases.ts'
import { limits } from '../contract/limits.ts'
import { isDestructive } from '../database/destructive-statement.ts'
import { createPostgresDumpSource } from '../database/dump-source.ts'
import type { DatabaseRow } from '../store/database-tables.ts'
import { listDatabaseDumps } from '../store/database-dumps.ts'
import type { FeatureDeps } from './deps.ts'

const { snapshot_bytes, snapshots } = limits.database_query

/**
 * Dumps a database before a statement that may delete or replace data, if it is small enough that this takes seconds. Copies of previews are not dumped. The last
 * few of these dumps are kept.
 */
export const createSnapshotBeforeQuery =
  ({ databases, dumps, store: { db } }: FeatureDeps) =>
  async (projectId: string, row: DatabaseRow, sql: string, signal: AbortSignal): Promise<DatabaseDump | undefined> => {
    if (row.branch !== '' || !isDestructive(sql)) return undefined
    const opened = databases.open(row)
    if ((await opened.server.inspect(row.db_name)).size_bytes > snapshot_bytes) return undefined
    return databases.exclusive(projectId, async () => {
      const dump = await dumps.write(createPostgresDumpSource(opened), 'query', signal)
      const earlier = (await db.read((tx) => listDatabaseDumps(tx, projectId, ''))).filter(({ reason, name }) => reason === 'query' && name === '')
      for (const old of earlier.slice(snapshots)) await dumps.remove(old)
      return dump
    })
  }
