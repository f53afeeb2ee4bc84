import type { Generated } from 'kysely'

export interface EnvVarTable extends Omit<EnvVarRow, 'is_write_only' | 'is_build_secret'> {
  is_write_only: Generated<EnvVarRow['is_write_only']>
  is_build_secret: Generated<EnvVarRow['is_build_secret']>
}

export interface EnvVarRow {
  id: string
  project_id: string
  key: string
  sealed_value: Uint8Array
  environment: 'production' | 'preview' | null
  is_sensitive: 0 | 1
  /** The API never returns the value. Cannot be reset. */
  is_write_only: 0 | 1
  /** Mounted into builds of a Dockerfile as a secret. */
  is_build_secret: 0 | 1
  created_at: string
  updated_at: string
}
