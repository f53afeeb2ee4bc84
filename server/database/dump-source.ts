import type { OpenDatabase } from './database-server.ts'
import { classifyServerError, connectClient, terminateSessions } from './dump-database.ts'

/** A database whose content is dumped as SQL and replaced by SQL. One driver per kind of database. */
export interface DumpSource {
  project_id: string
  /** The managed service; empty for the project's PostgreSQL database. */
  service: string
  db_name: string
  /** The whole database as plain SQL, of one moment. */
  dump(signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Replaces the content. A file with an error leaves the database unchanged. */
  restore(sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** Ends sessions that could block a dump, before the content is replaced. */
  endSessions(signal: AbortSignal): Promise<void>
}

export const createPostgresDumpSource = ({ row, server, spec }: OpenDatabase): DumpSource => ({
  project_id: row.project_id,
  service: '',
  db_name: row.db_name,
  dump: (signal) => server.dump(spec, signal),
  restore: (sql, signal) => server.restore(spec, sql, signal),
  async endSessions(signal) {
    const open = async () => connectClient({ ...spec, ...(await server.address('machine')) }, signal)
    const { client, close } = await open()
      .catch(async (error: unknown) => {
        // The database or role does not exist, or the app changed its password. All are repaired, so that the database can be dropped.
        if (!(error instanceof Error && 'code' in error && /^(3D000|28000|28P01)$/.test(String(error.code)))) throw error
        await server.create(spec)
        return open()
      })
      .catch((error: unknown) => {
        throw classifyServerError(error) ?? error
      })
    await terminateSessions(client).finally(close)
  },
})
