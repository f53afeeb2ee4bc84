import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { DeployHookRow } from './notification-tables.ts'

export const listDeployHooks = all((projectId: string) =>
  tables.selectFrom('deploy_hooks').selectAll().where('project_id', '=', projectId).orderBy('seq'),
)

export function insertDeployHook(tx: Tx, row: Omit<DeployHookRow, 'seq'>): void {
  tx.run(tables.insertInto('deploy_hooks').values(row))
}

export const findDeployHookByHash = first((hash: string) => tables.selectFrom('deploy_hooks').selectAll().where('hash', '=', hash))

export const recordDeployHookUse = run((id: string, now: string) =>
  tables.updateTable('deploy_hooks').set({ last_used_at: now }).where('id', '=', id),
)

export const deleteDeployHook = run((projectId: string, id: string) =>
  tables.deleteFrom('deploy_hooks').where('project_id', '=', projectId).where('id', '=', id),
)
