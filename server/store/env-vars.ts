import type { Tx } from './store.ts'
import type { EnvVarRow } from './tables.ts'

/** Sorted by environment (variables for both first), then by key. */
export function listEnvVars(tx: Tx, projectId: string): EnvVarRow[] {
  return tx.sqlAll('SELECT * FROM env_vars WHERE project_id = ? ORDER BY environment, key', projectId)
}

export function findEnvVar(tx: Tx, projectId: string, id: string): EnvVarRow | undefined {
  return tx.sqlFirst('SELECT * FROM env_vars WHERE project_id = ? AND id = ?', projectId, id)
}

/** False if a variable with this key and environment exists. */
export function insertEnvVar(tx: Tx, row: EnvVarRow): boolean {
  const existing = tx.sqlFirst(
    'SELECT 1 AS one FROM env_vars WHERE project_id = ? AND key = ? AND environment IS ?',
    row.project_id,
    row.key,
    row.environment,
  )
  if (existing) return false
  tx.run(tx.query.insertInto('env_vars').values(row))
  return true
}

export function updateEnvVar(tx: Tx, id: string, change: Partial<Pick<EnvVarRow, 'sealed_value' | 'is_sensitive' | 'updated_at'>>): void {
  tx.run(tx.query.updateTable('env_vars').set(change).where('id', '=', id))
}

export function deleteEnvVar(tx: Tx, id: string): void {
  tx.sqlRun('DELETE FROM env_vars WHERE id = ?', id)
}
