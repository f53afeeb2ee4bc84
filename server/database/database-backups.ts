import { currentPostgresVersion } from '../contract/postgres-versions.ts'
import { runtimeNames, runtimes } from '../contract/runtimes.ts'
import { findDatabaseByName, listReadyDatabases, moveDatabase } from '../store/databases.ts'
import type { DatabaseRow } from '../store/database-tables.ts'
import type { Db } from '../store/store.ts'
import { DatabaseUnavailableError, type OpenDatabase } from './database-server.ts'
import type { DatabaseServers } from './index.ts'

/** The databases in a backup of the instance. */
export function createDatabaseBackups({ db, servers, open }: { db: Db; servers: DatabaseServers; open(row: DatabaseRow): OpenDatabase }) {
  return {
    /** Every database as plain SQL, for a backup of the instance. Reading throws when its server is unavailable. */
    async *dumpAll(signal: AbortSignal): AsyncGenerator<{ db_name: string; sql: AsyncIterable<Uint8Array> }> {
      for (const row of await db.read(listReadyDatabases)) {
        const { server, spec } = open(row)
        yield { db_name: row.db_name, sql: server.dump(spec, signal) }
      }
    },

    /** Creates a database after the restore of a backup, where a server is available, and fills it. Can be repeated. */
    async restoreDump(db_name: string, sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
      const row = await db.read((tx) => findDatabaseByName(tx, db_name))
      if (!row) return
      const { spec, server: own } = open(row)
      // Apps of one machine do not reach the databases of a cluster.
      const others = runtimeNames
        .filter((name) => name !== row.driver && !runtimes[name].is_cluster)
        .map((name) => servers[name][currentPostgresVersion])
      const candidates = [own, servers[row.driver][currentPostgresVersion], ...others].filter((one, index, all) => all.indexOf(one) === index)
      let server = own
      for (;;) {
        server = candidates.shift() ?? own
        try {
          await server.drop(spec)
          await server.create(spec)
          break
        } catch (error) {
          if (!(error instanceof DatabaseUnavailableError) || candidates.length === 0) throw error
        }
      }
      await db.write((tx) => moveDatabase(tx, db_name, server.name, server.version))
      await server.restore(spec, sql, signal)
    },
  }
}
