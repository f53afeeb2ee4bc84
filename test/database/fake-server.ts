import type { PostgresVersion } from '../../server/contract/postgres-versions.ts'
import type { RuntimeName } from '../../server/contract/runtimes.ts'
import { type DatabaseServer, DatabaseUnavailableError } from '../../server/database/database-server.ts'

/** A driver in memory: for each database the SQL that it was filled with. `is_away`: the server is unavailable. */
export interface FakeServer extends DatabaseServer {
  databases: Map<string, string>
  is_away: boolean
  /** How often the empty server was removed. */
  retired: number
}

export function createFakeServer(name: RuntimeName, version: PostgresVersion = 18): FakeServer {
  const databases = new Map<string, string>()
  const reach = async () => {
    if (server.is_away) throw new DatabaseUnavailableError('It is away.', 'Try again.')
  }
  const textOf = async (sql: AsyncIterable<Uint8Array>) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of sql) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }
  const server: FakeServer = {
    name,
    version,
    how_to_start: 'Start it.',
    databases,
    is_away: false,
    retired: 0,
    async create({ db_name }) {
      await reach()
      if (!databases.has(db_name)) databases.set(db_name, '')
    },
    async drop({ db_name }) {
      await reach()
      databases.delete(db_name)
    },
    async inspect() {
      await reach()
      return { engine_version: `${version}.1`, size_bytes: 1 }
    },
    address: (async (from: 'machine' | { runtime: string }) => {
      await reach()
      return from === 'machine' || name === 'docker' || from.runtime === 'process' ? { host: '127.0.0.1', port: 5432 } : undefined
    }) as DatabaseServer['address'],
    async *dump({ db_name }) {
      await reach()
      yield Buffer.from(databases.get(db_name) ?? '')
    },
    async restore({ db_name }, sql) {
      await reach()
      databases.set(db_name, await textOf(sql))
    },
    async disconnectProject() {},
    async removeIfEmpty() {
      await reach()
      if (databases.size === 0) server.retired++
    },
    state: async () => ({ running: !server.is_away, version: `${version}.1`, message: server.is_away ? 'It is away.' : 'It runs.' }),
    async close() {},
  }
  return server
}
