import { cp, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { resolveInside, toPathSegment } from '../files.ts'
import { type ServiceRequest, StartFailure } from '../runtime.ts'

/**
 * Makes the volumes of a service appear in its app's folder, as links; returns the folders of the volumes. A new volume begins with the files that
 * the source has at its path, as in a container.
 */
export async function linkVolumes(dataDir: string, appFolder: string, volumes: ServiceRequest['volumes']): Promise<string[]> {
  const folders: string[] = []
  for (const { id, path } of volumes) {
    const relative = path.startsWith('/app/') ? path.slice('/app/'.length) : path
    if (isAbsolute(relative))
      throw new StartFailure(
        'start_failed',
        `The volume at “${path}” is outside of the app’s folder, which works with Docker alone.`,
        'Write a path relative to the app, such as ./data, or start Docker and deploy again.',
      )
    const folder = join(dataDir, 'volumes', toPathSegment(id))
    const link = resolveInside(appFolder, relative)
    await linkVolume(folder, link)
    folders.push(folder)
  }
  return folders
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
