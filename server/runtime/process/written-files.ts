import { constants } from 'node:fs'
import { lstat, open, opendir, realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { resolveInside } from '../files.ts'
import { appFolder } from '../../contract/volume-paths.ts'
import { limits } from '../../contract/limits.ts'
import { type WrittenFilesOwner } from '../runtime.ts'
import {
  databaseHeadBytes,
  isDatabaseHead,
  isIgnoredFolder,
  isWrittenPath,
  mayBeDatabase,
  databaseSuffixes,
  type WrittenFiles,
} from '../written-paths.ts'
import { packFiles } from '../../lib/pack-files.ts'
import { toAppPath } from './volumes.ts'

/** A file in the folder of a bundle. The app wrote everything that changed after it. */
const getBuildMark = (bundleFolder: string): string => join(bundleFolder, 'built')

export const markBuilt = (bundleFolder: string): Promise<void> => writeFile(getBuildMark(bundleFolder), '')

/** Undefined for a bundle from before this file existed. */
export async function listWrittenLocalFiles({ artifact }: WrittenFilesOwner, bundleFolder: string): Promise<WrittenFiles | undefined> {
  if (artifact.kind !== 'bundle') return undefined
  const built = await lstat(getBuildMark(bundleFolder)).catch(() => undefined)
  const root = await realpath(artifact.directory).catch(() => undefined)
  if (!built || root === undefined) return undefined
  const { entries, depth } = limits.written_files
  const files: WrittenFiles['files'] = []
  /** Folders with a file of the build in them, at any depth. */
  const builtFolders = new Set<string>()
  const seenFolders: string[] = []
  const queue = [{ folder: root, path: appFolder }]
  let seen = 0
  for (let next = queue.shift(); next; next = queue.shift()) {
    seenFolders.push(next.path)
    const listing = await opendir(next.folder).catch(() => undefined)
    if (!listing) continue
    for await (const entry of listing) {
      if (++seen > entries)
        return { files, app_folder: appFolder, new_folders: new Set(seenFolders.filter((folder) => !builtFolders.has(folder))), is_complete: false }
      const [full, path] = [join(next.folder, entry.name), `${next.path}/${entry.name}`]
      if (entry.isDirectory()) {
        if (!isIgnoredFolder(entry.name) && path.split('/').length <= depth) queue.push({ folder: full, path })
      } else if (entry.isFile()) {
        const info = await lstat(full).catch(() => undefined)
        // The change time of the entry itself (ctime), which an app cannot set.
        if (!info || info.ctimeMs <= built.mtimeMs) addWithParents(builtFolders, next.path)
        else if (isWrittenPath(path)) files.push({ path, bytes: info.size, is_database: mayBeDatabase(path) && (await isDatabase(full)) })
      }
    }
  }
  return { files, app_folder: appFolder, new_folders: new Set(seenFolders.filter((folder) => !builtFolders.has(folder))), is_complete: true }
}

function addWithParents(folders: Set<string>, path: string): void {
  for (let folder = path; folder !== '' && !folders.has(folder); folder = folder.slice(0, folder.lastIndexOf('/'))) folders.add(folder)
}

async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(databaseHeadBytes), 0, databaseHeadBytes, 0)
    return isDatabaseHead(buffer.subarray(0, bytesRead))
  } catch {
    return false
  } finally {
    await handle.close()
  }
}

export async function exportWrittenLocalFiles({ artifact }: WrittenFilesOwner, path: string, isFile: boolean): Promise<Readable | undefined> {
  const relative = toAppPath(path)
  if (artifact.kind !== 'bundle' || relative === undefined) return undefined
  const full = await resolveWithoutLinks(artifact.directory, relative)
  const info = full === undefined ? undefined : await lstat(full)
  if (full === undefined || !(isFile ? info?.isFile() : info?.isDirectory())) return undefined
  if (!isFile) return packFiles(full, ['.'])
  const names: string[] = []
  for (const suffix of databaseSuffixes) {
    const found = await lstat(full + suffix).catch(() => undefined)
    if (found?.isFile()) names.push(`./${basename(full)}${suffix}`)
  }
  return packFiles(dirname(full), names)
}

/** Undefined if nothing exists there, or if it is a symlink, which may lead out of the app's folder. */
async function resolveWithoutLinks(folder: string, path: string): Promise<string | undefined> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) return undefined
  const full = resolveInside(root, join('.', path))
  return (await realpath(full).catch(() => undefined)) === full ? full : undefined
}
