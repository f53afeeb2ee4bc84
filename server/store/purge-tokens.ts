import type { Tx } from './store.ts'

/** Replaces the purge token of a project. The previous one becomes invalid. */
export function replacePurgeToken(tx: Tx, token: { project_id: string; hash: string; created_at: string }): void {
  tx.run(
    tx.query
      .insertInto('purge_tokens')
      .values(token)
      .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ hash: token.hash, created_at: token.created_at })),
  )
  tx.sqlRun('UPDATE projects SET has_purge_token = 1 WHERE id = ?', token.project_id)
}

/** The hash of a project's purge token, or undefined if it has none. */
export function findPurgeTokenHash(tx: Tx, projectId: string): string | undefined {
  return tx.sqlFirst<{ hash: string }>('SELECT hash FROM purge_tokens WHERE project_id = ?', projectId)?.hash
}
