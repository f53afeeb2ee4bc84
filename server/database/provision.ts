import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type { DatabaseSpec } from './database-server.ts'

/** Runs one statement in a database as the superuser; rows as texts. */
export type RunStatement = (database: string, statement: string) => Promise<(string | null)[][]>

/** Connections of one role: an app that leaks them takes its own away, not its neighbours'. */
const maxConnectionsPerRole = 50

/** Options of the server itself, the same for both drivers. Statements are never logged: they may hold what nobody should read. */
export const serverSettings: Record<string, string> = {
  max_connections: '200',
  password_encryption: 'scram-sha-256',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_min_duration_statement: '-1',
  // A query that spills without end fails, before the disk is full.
  temp_file_limit: '4GB',
}

/** Who may connect: the superuser as `superuser` says, and each role to the database of its own name. */
export const formatAccessRules = (superuser: string): string => `${superuser}\nhost sameuser all all scram-sha-256\n`

/** Once per cluster, and harmless again: what every role could connect to by itself. */
export async function revokePublicAccess(runStatement: RunStatement): Promise<void> {
  for (const name of ['postgres', 'template1']) await runStatement('postgres', `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`)
}

/** A role and a database of its own (SECURITY.md, T21). Each step is taken only where it is missing. */
export async function createDatabase(runStatement: RunStatement, spec: DatabaseSpec): Promise<void> {
  const [role, database] = [quoteIdentifier(spec.db_user), quoteIdentifier(spec.db_name)]
  const action = (await exists(runStatement, 'pg_roles', 'rolname', spec.db_user)) ? 'ALTER' : 'CREATE'
  await runStatement(
    'postgres',
    `${action} ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT ${maxConnectionsPerRole} PASSWORD '${createScramVerifier(spec.password)}'`,
  )
  if (!(await exists(runStatement, 'pg_database', 'datname', spec.db_name)))
    await runStatement('postgres', `CREATE DATABASE ${database} OWNER ${role} TEMPLATE template0 ENCODING 'UTF8'`)
  await runStatement('postgres', `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`)
  // The owner of a database has its schema by inheritance only, and a role of ours inherits nothing.
  await runStatement(spec.db_name, `ALTER SCHEMA public OWNER TO ${role}`)
}

export async function dropDatabase(runStatement: RunStatement, spec: Pick<DatabaseSpec, 'db_name' | 'db_user'>): Promise<void> {
  await runStatement('postgres', `DROP DATABASE IF EXISTS ${quoteIdentifier(spec.db_name)} WITH (FORCE)`)
  await runStatement('postgres', `DROP ROLE IF EXISTS ${quoteIdentifier(spec.db_user)}`)
}

/** Undefined: there is no such database. */
export async function inspectDatabase(
  runStatement: RunStatement,
  db_name: string,
): Promise<{ engine_version: string; size_bytes: number } | undefined> {
  const [row] = await runStatement(
    'postgres',
    `SELECT current_setting('server_version'), pg_database_size(datname) FROM pg_database WHERE datname = ${quoteLiteral(db_name)}`,
  )
  // Debian adds the name of its package: "15.18 (Debian ..)".
  return row && { engine_version: String(row[0]).split(' ')[0] ?? '', size_bytes: Number(row[1]) }
}

async function exists(runStatement: RunStatement, table: 'pg_roles' | 'pg_database', column: string, value: string): Promise<boolean> {
  return (await runStatement('postgres', `SELECT 1 FROM ${table} WHERE ${column} = ${quoteLiteral(value)}`)).length > 0
}

/** Names are made by us alone; anything else is a mistake of ours and goes nowhere. */
function assertIdentifier(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) throw new Error('This is no name of a database of ours.')
  return name
}
const quoteIdentifier = (name: string): string => `"${assertIdentifier(name)}"`
const quoteLiteral = (name: string): string => `'${assertIdentifier(name)}'`

/** What PostgreSQL keeps of a password (RFC 5803). Sent in its place, so that the password itself is in no statement. */
export function createScramVerifier(password: string): string {
  const iterations = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const mac = (key: string) => createHmac('sha256', salted).update(key).digest()
  const stored = createHash('sha256').update(mac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${mac('Server Key').toString('base64')}`
}
