import type { PostgresVersion } from '../contract/postgres-versions.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { DatabaseRow } from '../store/database-tables.ts'

/**
 * The data a server needs about one database. Name and user are equal: `p_` with an id. The password has no character that needs escaping in a URL.
 */
export interface DatabaseSpec {
  db_name: string
  db_user: string
  password: string
}

/**
 * A PostgreSQL server of this instance: one for each runtime and major version. Every driver passes the suite in `test/database`. A server starts at
 * first use and adopts a running server of the previous run. Throws `DatabaseUnavailableError` while it is unavailable.
 */
export interface DatabaseServer {
  readonly name: RuntimeName
  readonly version: PostgresVersion
  /** What the user can do while the server is not running. */
  readonly how_to_start: string

  /** Creates role and database, or completes them after a crash. */
  create(spec: DatabaseSpec): Promise<void>

  /** Ends the sessions and drops both; no error if they do not exist. */
  drop(spec: Pick<DatabaseSpec, 'db_name' | 'db_user'>): Promise<void>

  inspect(db_name: string): Promise<{ engine_version: string; size_bytes: number }>

  /** The address for this machine, or for an app on a runtime; undefined when such an app cannot reach the server. */
  address(from: 'machine'): Promise<DatabaseAddress>
  address(from: { runtime: RuntimeName; project_id: string }): Promise<DatabaseAddress | undefined>

  /** One database as plain SQL, for `restore` and psql. */
  dump(spec: DatabaseSpec, signal: AbortSignal): AsyncIterable<Uint8Array>

  /** Atomic: a file with an error leaves the database unchanged. */
  restore(spec: DatabaseSpec, sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>

  /** Removes the network of a project; no error if there is none. */
  disconnectProject(project_id: string): Promise<void>

  /** Removes the server with its data when it has no databases. It is created again at its next use. */
  removeIfEmpty(): Promise<void>

  /** The state of the server, for display. Never throws and starts nothing. */
  state(): Promise<{ running: boolean; version: string | null; message: string }>

  /** Closes the driver. Stops the server if `stopServer`; otherwise the next run adopts it. */
  close(stopServer: boolean): Promise<void>
}

/** A database with its server. */
export interface OpenDatabase {
  row: DatabaseRow
  server: DatabaseServer
  spec: DatabaseSpec
}

export interface DatabaseAddress {
  host: string
  port: number
}

/** The server is unavailable. `message` says why, `hint` how to fix it; both are shown to the client. `code` is the failure code of a deployment. */
export class DatabaseUnavailableError extends Error {
  readonly code = 'runtime_unavailable'
  readonly hint: string
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnavailableError'
    this.hint = hint
  }
}
