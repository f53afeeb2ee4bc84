/** Handlers of the databases, for the double: they answer in the contract's shapes. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'

type DatabaseHandlers = Pick<Handlers<Context>, 'createDatabase' | 'getDatabase' | 'deleteDatabase'>

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
  }
}
