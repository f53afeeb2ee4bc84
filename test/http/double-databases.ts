/** Handlers of the databases, for the double: they answer in the contract's shapes. */
import type { databaseDumpOperations, databaseOperations } from '../../server/contract/databases.ts'
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'

type DatabaseHandlers = Pick<Handlers<Context>, keyof typeof databaseOperations | keyof typeof databaseDumpOperations>

const database = {
  db_name: 'p_1',
  db_user: 'p_1',
  password: 'secret',
  host: '127.0.0.1',
  port: 5432,
  connection_string: 'postgresql://p_1:secret@127.0.0.1:5432/p_1',
  engine: 'postgresql' as const,
  engine_version: '15.18',
  size_bytes: 7_000_000,
  created_at: '2026-01-31T12:00:00.000Z',
}

const dump = {
  id: 'dmp_1',
  project_slug: 'app',
  db_name: 'p_1',
  reason: 'manual' as const,
  bytes: 1000,
  path: '/data/dumps/dmp_1.sql.gz',
  created_at: '2026-01-31T12:00:00.000Z',
}

async function* file() {
  yield Buffer.from('dump')
}

/** `visible` throws the 404 of a project that the caller may not see. */
export function createDatabaseHandlers(visible: (context: Context, slug: string) => unknown): DatabaseHandlers {
  return {
    async createDatabase(context, { params }) {
      visible(context, params.slug)
      return { database, deployment_id: null }
    },
    async getDatabase(context, { params }) {
      visible(context, params.slug)
      return { database }
    },
    async deleteDatabase(context, { params }) {
      visible(context, params.slug)
    },
    async listDatabaseDumps(context, { params }) {
      visible(context, params.slug)
      return { dumps: [dump] }
    },
    async dumpDatabase(context, { params }) {
      visible(context, params.slug)
      return { dump }
    },
    async downloadDatabaseDump(context, { params }) {
      visible(context, params.slug)
      return file()
    },
    async restoreDatabase(context, { params }) {
      visible(context, params.slug)
      return { database, dump: { ...dump, reason: 'restore' } }
    },
    async importDatabase(context, { params }) {
      visible(context, params.slug)
      return { database, dump: { ...dump, reason: 'restore' } }
    },
    deleteDatabaseDump: async () => {},
    listEveryDatabaseDump: async () => ({ dumps: [dump] }),
  }
}
