import { lstat, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { copyFolder } from './copy-folder.ts'
import type { Artifact } from './runtime.ts'

/** Joins a path of a plan to its root; throws for a path outside of the root. */
export function resolveInside(root: string, path: string): string {
  const full = resolve(root, path)
  if (!isWithin(full, root)) throw new Error(`The path ${path} leaves its folder.`)
  return full
}

/** Whether a path is a folder or inside it. */
export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep)

/** An id as a safe path segment. */
export function toPathSegment(id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(id)) throw new Error(`Invalid id: ${id.slice(0, 50)}`)
  return id
}

/** Moves a folder, also to another file system. */
export async function moveFolder(from: string, to: string, signal?: AbortSignal): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copyFolder(from, to, { signal })
    await rm(from, { recursive: true, force: true })
  }
}

/** The folder of a build in `bundles/`: each built service of a deployment has its own. */
export const getBundleName = ({ deployment_id, service }: { deployment_id: string; service?: string | null }): string =>
  toPathSegment(service ? `${deployment_id}.${service}` : deployment_id)

/** The id under which the caches of a build are stored. */
export const getCacheOwner = ({ project_id, is_untrusted }: { project_id: string; is_untrusted?: boolean }): string =>
  is_untrusted ? getUntrustedOwner(project_id) : project_id

export const getUntrustedOwner = (projectId: string): string => `${projectId}.pull`

/** Removes the files that a deployment built into `bundles/`. The artifact of a rollback is in the folder of the deployment that built it. */
export async function removeBundles(dataDir: string, deploymentId: string, artifact: Artifact | null): Promise<void> {
  const root = join(dataDir, 'bundles')
  const builtFolder = artifact === null || artifact.kind === 'image' ? undefined : relative(root, artifact.directory).split(sep)[0]
  const ofServices = (await readdir(root).catch((): string[] => [])).filter((name) => name.startsWith(`${deploymentId}.`))
  const names = new Set([
    deploymentId,
    ...(artifact === null ? ofServices : []),
    ...(builtFolder === undefined || builtFolder === '' || builtFolder === '..' ? [] : [builtFolder]),
  ])
  for (const name of names) await rm(join(root, toPathSegment(name)), { recursive: true, force: true, maxRetries: 5 })
}

/** Size of a folder in bytes. Links are not followed. With `removeOutsideLinks`, links that leave the folder are removed. */
export async function measureFolder(folder: string, removeOutsideLinks = false): Promise<number> {
  const root = await realpath(folder)
  let bytes = 0
  const walk = async (path: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const full = join(path, entry.name)
      if (entry.isDirectory()) await walk(full)
      else if (entry.isSymbolicLink() && removeOutsideLinks) await removeOutsideLink(root, full)
      else bytes += (await lstat(full)).size
    }
  }
  await walk(root)
  return bytes
}

async function removeOutsideLink(root: string, link: string): Promise<void> {
  const target = await realpath(link).catch(() => undefined)
  const path = target === undefined ? '..' : relative(root, target)
  if (path.startsWith('..') || isAbsolute(path)) await rm(link, { force: true })
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
