import { all, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ProjectVolumeRow } from './volume-tables.ts'

/** Those that were removed as well. */
export const listProjectVolumes = all((projectId: string) =>
  tables.selectFrom('project_volumes').selectAll().where('project_id', '=', projectId).orderBy('name'),
)

export function insertProjectVolume(tx: Tx, row: ProjectVolumeRow): void {
  tx.run(tables.insertInto('project_volumes').values(row))
}

export const updateProjectVolume = run((projectId: string, name: string, removed_at: string | null) =>
  tables.updateTable('project_volumes').set({ removed_at }).where('project_id', '=', projectId).where('name', '=', name),
)
