import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { EnvVarRow } from './env-var-tables.ts'

/** Sorted by environment (variables for both first), then by key. */
export const listEnvVars = all((projectId: string) =>
  tables.selectFrom('env_vars').selectAll().where('project_id', '=', projectId).orderBy('environment').orderBy('key'),
)

export const findEnvVar = first((projectId: string, id: string) =>
  tables.selectFrom('env_vars').selectAll().where('project_id', '=', projectId).where('id', '=', id),
)

const hasEnvVar = exists((projectId: string, key: string, environment: EnvVarRow['environment']) =>
  tables.selectFrom('env_vars').select('id').where('project_id', '=', projectId).where('key', '=', key).where('environment', 'is', environment),
)

/** False if a variable with this key and environment exists. */
export function insertEnvVar(tx: Tx, row: EnvVarRow): boolean {
  if (hasEnvVar(tx, row.project_id, row.key, row.environment)) return false
  tx.run(tables.insertInto('env_vars').values(row))
  return true
}

export function updateEnvVar(
  tx: Tx,
  id: string,
  change: Partial<Pick<EnvVarRow, 'sealed_value' | 'is_sensitive' | 'is_write_only' | 'is_build_secret' | 'updated_at'>>,
): void {
  tx.run(tables.updateTable('env_vars').set(change).where('id', '=', id))
}

export const deleteEnvVar = run((id: string) => tables.deleteFrom('env_vars').where('id', '=', id))
