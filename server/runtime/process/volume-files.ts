import { constants } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../contract/limits.ts'
import type { VolumeEntry } from '../../contract/volumes.ts'
import { toPathSegment } from '../files.ts'
import type { Runtime } from '../runtime.ts'
import { splitVolumePath } from '../volume-path.ts'

export async function listLocalVolumeFolder(volumesFolder: string, id: string, path: string): ReturnType<Runtime['listVolumeFolder']> {
  const folder = await resolvePath(volumesFolder, id, path)
  if (folder === undefined || !(await lstat(folder)).isDirectory()) return undefined
  const names = await readdir(folder)
  const entries = await Promise.all(names.slice(0, limits.volume_entries).map((name) => describeEntry(folder, name)))
  return { entries: entries.filter((entry) => entry !== undefined), is_complete: names.length <= limits.volume_entries }
}

async function describeEntry(folder: string, name: string): Promise<VolumeEntry | undefined> {
  const info = await lstat(join(folder, name)).catch(() => undefined)
  if (!info) return undefined
  const kind = info.isFile() ? 'file' : info.isDirectory() ? 'folder' : info.isSymbolicLink() ? 'link' : 'other'
  return { name, kind, size_bytes: kind === 'file' ? info.size : null, modified_at: info.mtime.toISOString() }
}

export async function readLocalVolumeFile(volumesFolder: string, id: string, path: string): ReturnType<Runtime['readVolumeFile']> {
  const file = await resolvePath(volumesFolder, id, path)
  if (file === undefined || !(await lstat(file)).isFile()) return undefined
  // Does not wait for a writer if the file was replaced by a named pipe.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  // An app may have replaced a folder of the path with a symlink since it was resolved, so the opened file must be the one that the path names without links.
  const [opened, named] = await Promise.all([
    handle.stat(),
    resolvePath(volumesFolder, id, path).then((now) => (now === file ? lstat(file) : undefined)),
  ])
  if (!named || !opened.isFile() || opened.ino !== named.ino || opened.dev !== named.dev) {
    await handle.close()
    return undefined
  }
  return { bytes: opened.size, content: handle.createReadStream() }
}

/** Undefined if nothing exists there, or if the path contains a symlink, which may lead out of the volume. */
async function resolvePath(volumesFolder: string, id: string, path: string): Promise<string | undefined> {
  const root = await realpath(join(volumesFolder, toPathSegment(id))).catch(() => undefined)
  if (root === undefined) return undefined
  const full = join(root, ...splitVolumePath(path))
  return (await realpath(full).catch(() => undefined)) === full ? full : undefined
}
