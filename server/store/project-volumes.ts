import { all, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ProjectVolumeRow, UnsavedFilesRow } from './volume-tables.ts'

/** Including removed ones. */
export const listProjectVolumes = all((projectId: string) =>
  tables.selectFrom('project_volumes').selectAll().where('project_id', '=', projectId).orderBy('name'),
)

export function insertProjectVolume(tx: Tx, row: ProjectVolumeRow): void {
  tx.run(tables.insertInto('project_volumes').values(row))
}

export const updateProjectVolume = run((projectId: string, name: string, removed_at: string | null) =>
  tables.updateTable('project_volumes').set({ removed_at }).where('project_id', '=', projectId).where('name', '=', name),
)

/** In the order of their discovery, including dismissed ones. */
export const listUnsavedFiles = all((projectId: string) =>
  tables.selectFrom('unsaved_files').selectAll().where('project_id', '=', projectId).orderBy('found_at').orderBy('id'),
)

export function insertUnsavedFiles(tx: Tx, row: UnsavedFilesRow): void {
  tx.run(tables.insertInto('unsaved_files').values(row))
}

export const updateUnsavedFiles = run((id: string, files: number, bytes: number | null) =>
  tables.updateTable('unsaved_files').set({ files, bytes }).where('id', '=', id),
)

export const dismissUnsavedFiles = run((projectId: string, id: string, dismissed_at: string) =>
  tables.updateTable('unsaved_files').set({ dismissed_at }).where('project_id', '=', projectId).where('id', '=', id),
)

export const deleteUnsavedFiles = run((id: string) => tables.deleteFrom('unsaved_files').where('id', '=', id))
