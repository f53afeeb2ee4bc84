import { newSecret } from '../lib/token.ts'
import { all, run, tables } from './query.ts'
import type { Sealer } from './sealer.ts'
import type { Tx } from './store.ts'
import type { ManagedServiceRow } from './managed-tables.ts'

/** Including removed ones. */
export const listManagedServices = all((projectId: string) =>
  tables.selectFrom('managed_services').selectAll().where('project_id', '=', projectId).orderBy('name'),
)

const findManagedService = (tx: Tx, projectId: string, name: string): ManagedServiceRow | undefined =>
  listManagedServices(tx, projectId).find((row) => row.name === name)

function insertManagedService(tx: Tx, sealer: Sealer, row: Omit<ManagedServiceRow, 'sealed_password'>): void {
  const sealed_password = sealer.seal({ table: 'managed_services', column: 'sealed_password', row: `${row.project_id} ${row.name}` }, newSecret())
  tx.run(tables.insertInto('managed_services').values({ ...row, sealed_password }))
}

interface NewManagedService {
  project_id: string
  name: string
  created_at: string
}

/** Gives a project a managed service; one that was removed has its password again. False: the project has it. */
export function addManagedService(tx: Tx, sealer: Sealer, service: NewManagedService): boolean {
  const row = findManagedService(tx, service.project_id, service.name)
  if (row?.removed_at === null) return false
  if (row) updateManagedService(tx, service.project_id, service.name, null)
  else insertManagedService(tx, sealer, { ...service, removed_at: null })
  return true
}

/** A password for the previews whose source lists the service, while the project does not have it. */
export function reserveManagedService(tx: Tx, sealer: Sealer, service: NewManagedService): void {
  if (!findManagedService(tx, service.project_id, service.name)) insertManagedService(tx, sealer, { ...service, removed_at: service.created_at })
}

export const updateManagedService = run((projectId: string, name: string, removed_at: string | null) =>
  tables.updateTable('managed_services').set({ removed_at }).where('project_id', '=', projectId).where('name', '=', name),
)
