import { all, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { RegistryRow } from './managed-tables.ts'

export const listRegistries = all((projectId: string) =>
  tables.selectFrom('registries').selectAll().where('project_id', '=', projectId).orderBy('host'),
)

/** Replaces the credentials for the same host. */
export function saveRegistry(tx: Tx, row: RegistryRow): void {
  const { username, sealed_password, created_at } = row
  tx.run(
    tables
      .insertInto('registries')
      .values(row)
      .onConflict((conflict) => conflict.columns(['project_id', 'host']).doUpdateSet({ username, sealed_password, created_at })),
  )
}

export const deleteRegistry = run((projectId: string, host: string) =>
  tables.deleteFrom('registries').where('project_id', '=', projectId).where('host', '=', host),
)
