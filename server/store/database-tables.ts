import type { Generated } from 'kysely'
import type { PostgresVersion } from '../contract/postgres-versions.ts'
import type { RuntimeName } from '../contract/runtimes.ts'

/** The rows of PostgreSQL databases and of dumps. */

export interface DatabaseRow {
  project_id: string
  /** Empty for the project's own database, else the branch of a preview. */
  branch: string
  /** The runtime that hosts it. It does not change with later deployments. */
  driver: RuntimeName
  db_name: string
  db_user: string
  sealed_password: Uint8Array
  /** 0 during creation. The row is written first, so that an interrupted creation is completed or undone after a crash. */
  is_ready: 0 | 1
  created_at: string
  /** The server that hosts it, by the major version of PostgreSQL. */
  version: PostgresVersion
  /** Set while an upgrade copies it to the server of this version. */
  upgrading_to: PostgresVersion | null
  /** The server that keeps the data from before the upgrade, under the same name. */
  previous_version: PostgresVersion | null
}

export interface DatabaseDumpTable extends Omit<DatabaseDumpRow, 'seq'> {
  seq: Generated<number>
}

/** A dump outlives its database and its project. */
export interface DatabaseDumpRow {
  seq: number
  id: string
  project_id: string
  project_slug: string
  /** The managed service; empty for the PostgreSQL database. */
  service: string
  db_name: string
  reason: 'manual' | 'drop' | 'restore' | 'query'
  /** Given by the user; empty without one. */
  name: string
  /** The file name in the dumps folder. */
  file: string
  bytes: number
  created_at: string
}
