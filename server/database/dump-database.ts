import { Socket } from 'node:net'
import type { Client } from 'pg'
import { DatabaseUnavailableError } from './database-server.ts'
import { runPgDump, type DatabaseTarget } from './pg-dump.ts'

export type { DatabaseTarget } from './pg-dump.ts'

/** PostgreSQL is running but the dump failed. `message` is shown to the user. */
export class DumpError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'DumpError'
  }
}

const largeObjectChunk_bytes = 256 * 2 ** 10

/**
 * A whole database as plain SQL, of one moment: the schema from pg_dump, the rows streamed from COPY. Owners and grants are omitted, because one
 * role owns everything.
 */
export async function* dumpDatabase(target: DatabaseTarget, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* streamDump(target, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const known = classifyServerError(error)
    const isLocked = error instanceof Error && 'code' in error && error.code === '55P03'
    const why = isLocked ? 'the app is holding a lock on a table' : error instanceof Error ? error.message : String(error)
    throw known ?? new DumpError(`The dump could not be created: ${why}`, error)
  }
}

async function* streamDump(target: DatabaseTarget, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { client, close } = await connectClient(target, signal)
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query(
      "SET search_path = ''; SET DateStyle = ISO; SET IntervalStyle = postgres; SET extra_float_digits = 3; SET synchronize_seqscans = off; SET statement_timeout = 0; SET lock_timeout = '30s'; SET row_security = off",
    )
    const tables = await listTables(client)
    // The locks prevent changes to tables until the dump is complete.
    for (const table of tables) await client.query(`LOCK TABLE ONLY ${table.name} IN ACCESS SHARE MODE`)
    const snapshot = (await client.query<{ id: string }>('SELECT pg_catalog.pg_export_snapshot() AS id')).rows[0]!.id
    const schema = (section: string) =>
      runPgDump(target, ['--no-owner', '--no-privileges', `--section=${section}`, `--snapshot=${snapshot}`], signal).then(stripUnsupportedSettings)

    yield Buffer.from(await schema('pre-data'))
    const { to } = await import('pg-copy-streams')
    for (const { name, columns } of tables) {
      yield Buffer.from(`COPY ${name}${columns} FROM stdin;\n`)
      for await (const chunk of client.query(to(`COPY ${name}${columns} TO STDOUT`))) yield chunk as Buffer
      yield Buffer.from('\\.\n\n')
    }
    yield* dumpLargeObjects(client)
    yield Buffer.from(await dumpSequences(client))
    yield Buffer.from(await schema('post-data'))
    await client.query('COMMIT')
  } finally {
    await close()
  }
}

export interface DatabaseConnection {
  client: Client
  socket: Socket
  close(): Promise<void>
}

/** The abort of the signal closes the connection, and the server rolls back. */
export async function connectClient(target: DatabaseTarget, signal: AbortSignal): Promise<DatabaseConnection> {
  signal.throwIfAborted()
  const { Client } = (await import('pg')).default
  let socket: Socket | undefined
  const client = new Client({
    host: target.host,
    port: target.port,
    user: target.db_user,
    password: target.password,
    database: target.db_name,
    connectionTimeoutMillis: 30_000,
    keepAlive: true,
    client_encoding: 'UTF8',
    stream: () => (socket = new Socket()),
  })
  // Callers receive the errors of their own queries; this handler is for errors between queries.
  client.on('error', () => {})
  const destroySocket = () => socket?.destroy(signal.reason as Error)
  signal.addEventListener('abort', destroySocket)
  const close = async () => {
    signal.removeEventListener('abort', destroySocket)
    // Without this, the rest of an unfinished COPY would be read first.
    socket?.destroy()
    await client.end().catch(() => {})
  }
  try {
    await client.connect()
    return { client, socket: socket!, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Ends the other sessions of a role, whose locks would block the operation or which would see an incomplete state. */
export async function terminateSessions(client: Client): Promise<void> {
  await client.query(
    'SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_catalog.pg_backend_pid()',
  )
}

/** Errors unrelated to the data: the server is unavailable or its disk is full. */
export function classifyServerError(error: unknown): Error | undefined {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailableError) return error instanceof Error ? error : undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === '53100') return Object.assign(new Error('The disk of the database server is full.', { cause: error }), { code: 'ENOSPC' })
  if (
    /^(E[A-Z]+|08...|57P0.|53300)$/.test(code) ||
    /^(Connection terminated|Client (has encountered a connection error|was closed)|timeout)/.test(error.message)
  )
    return new DatabaseUnavailableError('The connection to the database server was lost.', 'Try again in a moment.', error)
  return undefined
}

const userRelationsFilter = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e')`

/** Tables with their own rows: partitions, but not partitioned tables. Generated columns are not dumped. */
async function listTables(client: Client): Promise<{ name: string; columns: string }[]> {
  const { rows } = await client.query<{ name: string; columns: string | null }>(`
    SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,
      (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND ${userRelationsFilter}
    ORDER BY n.nspname, c.relname`)
  return rows.map(({ name, columns }) => ({ name, columns: columns === null ? '' : ` (${columns})` }))
}

async function dumpSequences(client: Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ${userRelationsFilter}
    ORDER BY n.nspname, c.relname`)
  const lines: string[] = []
  for (const { name } of rows) {
    const found = await client.query<{ line: string }>(
      `SELECT pg_catalog.format('SELECT pg_catalog.setval(%L, %s, %L);', ${quoteLiteral(name)}, last_value, is_called) AS line FROM ${name}`,
    )
    lines.push(`${found.rows[0]!.line}\n`)
  }
  return `${lines.join('')}\n`
}

async function* dumpLargeObjects(client: Client): AsyncGenerator<Uint8Array> {
  const { rows } = await client.query<{ oid: string; comment: string | null }>(
    "SELECT oid::text, pg_catalog.obj_description(oid, 'pg_largeobject') AS comment FROM pg_catalog.pg_largeobject_metadata ORDER BY oid",
  )
  for (const { oid, comment } of rows) {
    yield Buffer.from(`SELECT pg_catalog.lo_create(${oid});\n`)
    if (comment !== null) yield Buffer.from(`COMMENT ON LARGE OBJECT ${oid} IS ${quoteLiteral(comment)};\n`)
    for (let offset = 0; ; offset += largeObjectChunk_bytes) {
      const found = await client.query<{ bytes: string }>(
        `SELECT pg_catalog.encode(pg_catalog.lo_get(${oid}, ${offset}, ${largeObjectChunk_bytes}), 'hex') AS bytes`,
      )
      const { bytes } = found.rows[0]!
      if (bytes !== '') yield Buffer.from(`SELECT pg_catalog.lo_put(${oid}, ${offset}, '\\x${bytes}');\n`)
      if (bytes.length < 2 * largeObjectChunk_bytes) break
    }
  }
}

const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** pg_dump is newer than the server and writes a setting that the server rejects. */
const stripUnsupportedSettings = (sql: string): string => sql.replace(/^SET transaction_timeout = 0;\n/m, '')
