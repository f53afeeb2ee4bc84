import { first, run, tables } from './query.ts'
import type { Tx } from './store.ts'

const upsertPurgeToken = run((project_id: string, hash: string, created_at: string) =>
  tables
    .insertInto('purge_tokens')
    .values({ project_id, hash, created_at })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet({ hash: (eb) => eb.ref('excluded.hash'), created_at: (eb) => eb.ref('excluded.created_at') }),
    ),
)
const markProject = run((id: string) => tables.updateTable('projects').set({ has_purge_token: 1 }).where('id', '=', id))
const findPurgeToken = first((projectId: string) => tables.selectFrom('purge_tokens').select('hash').where('project_id', '=', projectId))

/** Replaces the purge token of a project. The previous one becomes invalid. */
export function replacePurgeToken(tx: Tx, token: { project_id: string; hash: string; created_at: string }): void {
  upsertPurgeToken(tx, token.project_id, token.hash, token.created_at)
  markProject(tx, token.project_id)
}

/** The hash of a project's purge token, or undefined if it has none. */
export const findPurgeTokenHash = (tx: Tx, projectId: string): string | undefined => findPurgeToken(tx, projectId)?.hash
