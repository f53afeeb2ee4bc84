import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, lstat, mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { packFiles } from '../../lib/pack-files.ts'
import { cloneFolder, copyFolder } from '../copy-folder.ts'
import { isFolder, measureFolder, resolveInside, toPathSegment } from '../files.ts'
import { type ServiceRequest, StartFailure } from '../runtime.ts'
import { removedPrefix } from './leftovers.ts'

/**
 * Links the volumes of a service into its app's folder; returns the folders of the volumes. A new volume starts with the files that
 * the source has at its path, as in a container.
 */
export async function linkVolumes(dataDir: string, appFolder: string, volumes: ServiceRequest['volumes']): Promise<string[]> {
  const folders: string[] = []
  for (const { id, path, is_file } of volumes) {
    const relative = toAppPath(path)
    if (relative === undefined)
      throw new StartFailure(
        'start_failed',
        `The volume at “${path}” is outside of the app’s folder, which works only with Docker.`,
        'Write a path relative to the app, such as ./data, or start Docker and deploy again.',
      )
    const folder = join(dataDir, 'volumes', toPathSegment(id))
    const link = resolveInside(appFolder, relative)
    await (is_file ? linkFile(folder, link) : linkVolume(folder, link))
    folders.push(folder)
  }
  return folders
}

/** A path relative to the app's folder, which is /app in a container; undefined for a path outside of it. */
export function toAppPath(path: string): string | undefined {
  const relative = path.startsWith('/app/') ? path.slice('/app/'.length) : path
  return isAbsolute(relative) ? undefined : relative
}

/** The file of a new volume is copied from the source. */
async function linkFile(folder: string, link: string): Promise<void> {
  const target = join(folder, basename(link))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const existing = await lstat(link).catch(() => undefined)
  if (existing?.isSymbolicLink() && (await readlink(link)) === target) return
  const hasFile = await lstat(target).catch(() => undefined)
  if (existing?.isFile() && !hasFile) await cp(link, target)
  await rm(link, { recursive: true, force: true })
  await mkdir(dirname(link), { recursive: true })
  await symlink(target, link, 'file')
}

async function linkVolume(folder: string, link: string): Promise<void> {
  const existing = await lstat(link).catch(() => undefined)
  if (existing?.isSymbolicLink() && (await readlink(link)) === folder) return void (await mkdir(folder, { recursive: true, mode: 0o700 }))
  const isNew = (await readdir(folder).catch((): string[] => [])).length === 0
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (existing?.isDirectory() && isNew) await cp(link, folder, { recursive: true, verbatimSymlinks: true })
  await rm(link, { recursive: true, force: true })
  await mkdir(dirname(link), { recursive: true })
  await symlink(folder, link, 'junction')
}

export const getVolumesFolder = (dataDir: string) => join(dataDir, 'volumes')

export async function listLocalVolumes(dataDir: string, prefix: string): Promise<{ id: string; bytes: number | null }[]> {
  const names = (await readdir(getVolumesFolder(dataDir)).catch((): string[] => [])).filter((name) => name.startsWith(prefix))
  return Promise.all(names.map(async (id) => ({ id, bytes: await measureFolder(join(getVolumesFolder(dataDir), id)).catch(() => null) })))
}

/** The files of a volume as a tar stream; undefined when it does not exist. The system's tar keeps modes, links and sparse files. */
export async function exportLocalVolume(dataDir: string, id: string): Promise<Readable | undefined> {
  const folder = join(getVolumesFolder(dataDir), toPathSegment(id))
  return (await isFolder(folder)) ? packFiles(folder, ['.']) : undefined
}

export async function removeLocalVolume(dataDir: string, id: string): Promise<boolean> {
  // A killed platform may have left an incomplete copy.
  await Promise.all([removeFolder(getPartFolder(dataDir, id)), removeFolder(join(getVolumesFolder(dataDir), toPathSegment(id)))])
  return true
}

/** Removes the volumes whose ids start with the prefix, and incomplete copies of them. */
export async function removeLocalVolumes(dataDir: string, prefix: string): Promise<void> {
  const root = getVolumesFolder(dataDir)
  for (const name of await readdir(root).catch((): string[] => []))
    if (name.startsWith(prefix) || name.startsWith(`.${prefix}`)) await removeFolder(join(root, name))
}

async function removeFolder(folder: string): Promise<void> {
  for (const path of [await setAside(folder), folder]) await rm(path, { recursive: true, force: true, maxRetries: 5 })
}

/** A program that a killed platform had started may still copy into the folder; it fails once the folder has another name. */
async function setAside(folder: string): Promise<string> {
  const renamed = join(dirname(folder), `${removedPrefix}${randomUUID()}`)
  await rename(folder, renamed).catch(() => {})
  return renamed
}

/** A copy gets the name of its volume once it is complete. */
const getPartFolder = (dataDir: string, id: string) => join(getVolumesFolder(dataDir), `.${toPathSegment(id)}.part`)

/** Replaces the files of a volume. */
export async function importLocalVolume(dataDir: string, id: string, archive: Readable): Promise<void> {
  const folder = join(getVolumesFolder(dataDir), toPathSegment(id))
  await removeLocalVolume(dataDir, id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const child = spawn('tar', ['-C', folder, '-xf', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar ended with ${code}: ${text.slice(0, 500)}`))))
  })
  await Promise.all([writeAll(archive, child.stdin).catch((error: unknown) => (child.kill(), Promise.reject(error))), ended])
}

/** Reads all of the archive. The program may end at the mark for the end of an archive, before it has read the padding after it. */
async function writeAll(archive: Readable, input: Writable): Promise<void> {
  input.on('error', () => {})
  for await (const chunk of archive) {
    if (input.destroyed || input.write(chunk)) continue
    await new Promise<void>((resolve) => void input.once('drain', resolve).once('close', resolve))
  }
  input.end()
}

/** Replaces the files of a volume with a copy of another's, which is completed first. */
export async function copyLocalVolume(dataDir: string, from: string, to: string, signal: AbortSignal): Promise<boolean> {
  const source = join(getVolumesFolder(dataDir), toPathSegment(from))
  const part = getPartFolder(dataDir, to)
  if (!(await isFolder(source))) return false
  await removeFolder(part)
  try {
    await copyFolder(source, part, { signal })
    await replaceVolume(dataDir, to)
  } catch (error) {
    await removeFolder(part)
    throw error
  }
  return true
}

async function replaceVolume(dataDir: string, id: string): Promise<void> {
  const folder = join(getVolumesFolder(dataDir), toPathSegment(id))
  const previous = await setAside(folder)
  await rename(getPartFolder(dataDir, id), folder)
  await rm(previous, { recursive: true, force: true, maxRetries: 5 })
}

/** A folder next to the volumes that shares the blocks of the files; resolves with their size, or undefined if the file system cannot. */
export async function cloneVolume(dataDir: string, id: string, folder: string): Promise<number | undefined> {
  const source = join(getVolumesFolder(dataDir), toPathSegment(id))
  return (await cloneFolder(source, folder)) ? measureFolder(folder) : undefined
}

export async function restoreClone(dataDir: string, id: string, folder: string): Promise<boolean> {
  const part = getPartFolder(dataDir, id)
  await removeFolder(part)
  if (!(await cloneFolder(folder, part))) return false
  await replaceVolume(dataDir, id)
  return true
}
