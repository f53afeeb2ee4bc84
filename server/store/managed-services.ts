import { all, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ManagedServiceRow } from './managed-tables.ts'

/** Including removed ones. */
export const listManagedServices = all((projectId: string) =>
  tables.selectFrom('managed_services').selectAll().where('project_id', '=', projectId).orderBy('name'),
)

export function insertManagedService(tx: Tx, row: ManagedServiceRow): void {
  tx.run(tables.insertInto('managed_services').values(row))
}

export const updateManagedService = run((projectId: string, name: string, removed_at: string | null) =>
  tables.updateTable('managed_services').set({ removed_at }).where('project_id', '=', projectId).where('name', '=', name),
)
