import { deleteProjectRows } from './deployments.ts'
import { writeSetting } from './settings.ts'
import type { Tx } from './store.ts'

/** Deletes data that is only valid on the machine of the backup: deleted projects, due clean-ups, sessions and run tokens. */
export function resetInstance(tx: Tx, instanceId: string): void {
  for (const { id } of tx.sqlAll<{ id: string }>('SELECT id FROM projects WHERE deleted_at IS NOT NULL')) {
    tx.sqlRun('DELETE FROM databases WHERE project_id = ?', id)
    deleteProjectRows(tx, id)
  }
  tx.sqlRun('DELETE FROM cleanups')
  tx.sqlRun("DELETE FROM tokens WHERE kind = 'run'")
  tx.sqlRun('DELETE FROM sessions')
  tx.sqlRun('DELETE FROM sign_in_codes')
  tx.sqlRun("DELETE FROM settings WHERE key IN ('cookie_name', 'recovered')")
  writeSetting(tx, 'instance_id', instanceId)
}

/** Replaces the artifact of every deployment that has one. */
export function rewriteArtifacts(tx: Tx, rewrite: (artifact: string) => string | null): void {
  for (const { id, artifact } of tx.sqlAll<{ id: string; artifact: string }>('SELECT id, artifact FROM deployments WHERE artifact IS NOT NULL'))
    tx.sqlRun('UPDATE deployments SET artifact = ? WHERE id = ?', rewrite(artifact), id)
}

/** Deletes all encrypted values, including the stored responses of idempotency keys, and returns what was deleted. */
export function deleteSealedColumns(tx: Tx) {
  const lost = {
    variables: tx.sqlAll<{ slug: string; keys: string }>(
      "SELECT p.slug, group_concat(e.key, ', ') AS keys FROM env_vars e JOIN projects p ON p.id = e.project_id GROUP BY p.id ORDER BY p.slug",
    ),
    repositories: tx
      .sqlAll<{ slug: string }>('SELECT slug FROM projects WHERE sealed_repo_credentials IS NOT NULL ORDER BY slug')
      .map((row) => row.slug),
    authorities: tx.sqlRun('DELETE FROM authorities'),
    domains: tx.sqlRun(
      'UPDATE owned_domains SET sealed_registrant = NULL, sealed_auth_code = NULL WHERE sealed_registrant IS NOT NULL OR sealed_auth_code IS NOT NULL',
    ),
    remotes: tx.sqlRun('UPDATE remotes SET sealed_token = NULL WHERE sealed_token IS NOT NULL'),
  }
  tx.sqlRun('DELETE FROM env_vars')
  tx.sqlRun('UPDATE projects SET sealed_repo_credentials = NULL')
  tx.sqlRun("DELETE FROM settings WHERE key = 'key_check'")
  tx.sqlRun('DELETE FROM idempotency_keys')
  return lost
}

/** Gives every database a new encrypted password. Returns the number of databases. */
export function replaceDatabasePasswords(tx: Tx, sealNew: (dbName: string) => Uint8Array): number {
  const databases = tx.sqlAll<{ db_name: string }>('SELECT db_name FROM databases')
  for (const { db_name } of databases) tx.sqlRun('UPDATE databases SET sealed_password = ? WHERE db_name = ?', sealNew(db_name), db_name)
  return databases.length
}
