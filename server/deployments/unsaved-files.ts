import type { WrittenFiles } from '../runtime/written-paths.ts'
import { posix } from 'node:path'
import { limits } from '../contract/limits.ts'
import type { UnsavedFilesRow } from '../store/volume-tables.ts'

/** Groups files that look like data into paths that a volume could keep: a folder, or a single file. */
export type FoundFiles = Pick<UnsavedFilesRow, 'path' | 'kind' | 'is_file' | 'files' | 'bytes'>

const dataFolders = new Set('attachments avatars data .data database databases db files media sqlite storage upload uploads'.split(' '))

/** `mounts` are the paths of volumes. */
export function findUnsavedFiles(written: WrittenFiles, mounts: readonly string[]): FoundFiles[] {
  const found = new Map<string, FoundFiles>()
  for (const { path, bytes, is_database } of written.files) {
    if (mounts.some((mount) => isAppPathWithin(path, mount))) continue
    const dataFolder = findDataFolder(path, written.app_folder)
    const folder = dataFolder ?? findNewFolder(path, written)
    // A volume at a folder with files of the build would hide those of later versions, so only the file itself is kept.
    const kept = folder ?? (is_database ? path : undefined)
    if (kept === undefined) continue
    const kind = is_database ? 'database' : dataFolder === undefined ? 'files' : 'uploads'
    const before = found.get(kept)
    found.set(kept, {
      path: kept,
      kind: before ? strongest(before.kind, kind) : kind,
      is_file: kept === path ? 1 : 0,
      files: (before?.files ?? 0) + 1,
      bytes: before?.bytes === null || bytes === null ? null : (before?.bytes ?? 0) + bytes,
    })
  }
  for (const { path, files, bytes } of written.image_volumes ?? [])
    if (!mounts.some((mount) => isAppPathWithin(path, mount))) found.set(path, { path, kind: 'uploads', is_file: 0, files, bytes })
  return [...found.values()]
    .filter(({ kind, bytes }) => kind !== 'files' || (bytes ?? 0) >= limits.written_files.large_bytes)
    .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (b.bytes ?? 0) - (a.bytes ?? 0))
    .slice(0, limits.written_files.reports)
}

const kinds = ['database', 'uploads', 'files'] as const
const strongest = (a: FoundFiles['kind'], b: FoundFiles['kind']) => (kinds.indexOf(a) < kinds.indexOf(b) ? a : b)

export const isAppPathWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`)

/** The first folder of a path with the name of a data folder; the app's own folder may have such a name. */
function findDataFolder(path: string, appFolder: string): string | undefined {
  const root = isAppPathWithin(path, appFolder) && appFolder !== '/' ? appFolder : ''
  const segments = path.slice(root.length + 1).split('/')
  const index = segments.slice(0, -1).findIndex((segment) => dataFolders.has(segment.toLowerCase()))
  return index < 0 ? undefined : `${root}/${segments.slice(0, index + 1).join('/')}`
}

/** The highest folder of a path that the build did not create. */
function findNewFolder(path: string, { new_folders, app_folder }: WrittenFiles): string | undefined {
  let highest: string | undefined
  for (let folder = posix.dirname(path); folder !== '/' && folder !== app_folder && new_folders.has(folder); folder = posix.dirname(folder))
    highest = folder
  return highest
}
