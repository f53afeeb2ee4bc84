import type { RuntimeName } from '../contract/deployments.ts'

/** What a server needs to know of one database. Name and user are the same and ours: `p_` with an id; the password has no character that a URL escapes. */
export interface DatabaseSpec {
  db_name: string
  db_user: string
  password: string
}

/**
 * A PostgreSQL server of this instance. Two drivers stand behind it, `docker` and `process`; both pass the suite in
 * `test/database`. It starts when first needed and adopts what outlived us. Whatever it cannot do now throws `DatabaseUnavailable`.
 */
export interface DatabaseServer {
  readonly name: RuntimeName

  /** Makes role and database, or finishes what a crash left half made. */
  create(spec: DatabaseSpec): Promise<void>

  /** Ends its sessions and drops both; no error if they are gone already. */
  drop(spec: Pick<DatabaseSpec, 'db_name' | 'db_user'>): Promise<void>

  inspect(db_name: string): Promise<{ engine_version: string; size_bytes: number }>

  /** Where this machine reaches it, and where an app of a project on a runtime does; undefined when such an app cannot. */
  address(from: 'machine'): Promise<DatabaseAddress>
  address(from: { runtime: RuntimeName; project_id: string }): Promise<DatabaseAddress | undefined>

  /** Plain SQL of one database, in a form that `restore` and psql take. */
  dump(spec: DatabaseSpec, signal: AbortSignal): AsyncIterable<Uint8Array>

  /** All or nothing: a failing file leaves the database as it was. */
  restore(spec: DatabaseSpec, sql: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>

  /** Frees what is kept for a project's way to it; no error if there is nothing. */
  disconnectProject(project_id: string): Promise<void>

  /** Removes the server with its data, when no database is left in it. It is made anew when it is next needed. */
  removeIfEmpty(): Promise<void>

  /** How it is, for people. Never throws, starts nothing. */
  state(): Promise<{ running: boolean; version: string | null; message: string }>

  /** Ends what the driver opened; the server itself too when `stops`, else it lives on and is adopted by the next run. */
  close(stopServer: boolean): Promise<void>
}

export interface DatabaseAddress {
  host: string
  port: number
}

/** The server cannot be had now. `message` says why, `hint` what to do; both are for the client. `code` is that of a deployment which it fails. */
export class DatabaseUnavailableError extends Error {
  readonly code = 'runtime_unavailable'
  readonly hint: string
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseUnavailable'
    this.hint = hint
  }
}
