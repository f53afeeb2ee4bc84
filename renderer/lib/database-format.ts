import type { Database, DatabaseDump } from '../../server/contract/databases.ts'
import { sanitizeForDisplay } from './sanitize-for-display.ts'

/** Fixed length, so that the mask does not reveal the password's length. */
export const passwordMask = '••••••••••••'

/** The connection string without the password. Rebuilt from its parts, so that no secret can leak. */
export function maskConnectionString({ db_user, host, port, db_name }: Database): string {
  return `postgresql://${db_user}:${passwordMask}@${host}:${port}/${db_name}`
}

/** Prompts for the password, because a command line is visible in shell history and process list. */
export function psqlCommand({ db_user, host, port, db_name }: Database): string {
  return `psql -h ${host} -p ${port} -U ${db_user} ${db_name}`
}

/** A line of `~/.pgpass`, from which psql and pg_dump read the password. */
export function pgpassEntry({ db_user, host, port, db_name }: Database, password: string): string {
  return [host, String(port), db_name, db_user, password].map((field) => field.replace(/[\\:]/g, '\\$&')).join(':')
}

export const dumpReasonLabels: Record<DatabaseDump['reason'], string> = {
  manual: 'Manual',
  drop: 'Before drop',
  restore: 'Before restore',
  query: 'Before statement',
}

/** The name that the user gave, or why it was created. */
export const dumpTitle = ({ name, reason }: Pick<DatabaseDump, 'name' | 'reason'>): string =>
  name === null ? dumpReasonLabels[reason] : sanitizeForDisplay(name)

/** File name of a downloaded dump: `harbour-shop-2026-11-21-0844.sql.gz`; of a managed service `harbour-shop-mariadb-...`. */
export function dumpFilename({ project_slug, service, created_at }: DatabaseDump): string {
  return `${project_slug}${service === null ? '' : `-${service}`}-${created_at.slice(0, 16).replace(/T/, '-').replace(':', '')}.sql.gz`
}

// Limit of the contract for an import.
const maxImportBytes = 4 * 2 ** 30

export interface SqlFile {
  file: File
  type: 'application/gzip' | 'application/sql'
}

/** Detects the type of a chosen file by its first bytes, or returns why it cannot be imported. */
export async function readSqlFile(file: File, client: 'psql' | 'mariadb' = 'psql'): Promise<SqlFile | string> {
  if (file.size > maxImportBytes) return `“${file.name}” is larger than 4 GiB. Import it with ${client} instead.`
  if (file.size === 0) return `“${file.name}” is empty.`
  const head = await file
    .slice(0, 5)
    .arrayBuffer()
    .then(
      (buffer) => new Uint8Array(buffer),
      () => null,
    )
  if (head === null) return `“${file.name}” cannot be read. Check that it is a file, not a folder.`
  if (head[0] === 0x1f && head[1] === 0x8b) return { file, type: 'application/gzip' }
  const start = String.fromCharCode(...head)
  if (start === 'PGDMP' && client === 'mariadb') return `“${file.name}” is a dump of PostgreSQL.`
  if (start === 'PGDMP')
    return `“${file.name}” is in pg_dump’s custom format. Convert it to SQL first: pg_restore -O -x -f dump.sql ${shellQuote(file.name)}`
  if (start.startsWith('PK\u0003\u0004')) return `“${file.name}” is a .zip archive. Extract it and import the SQL file inside.`
  if (head.includes(0)) return `“${file.name}” is not an SQL file.`
  return { file, type: 'application/sql' }
}

function shellQuote(name: string): string {
  return `'${name.replace(/'/g, `'\\''`)}'`
}
