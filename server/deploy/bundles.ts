import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findDeploymentById, listBundleUses } from '../store/deployments.ts'
import type { YardDeps } from './yard.ts'

/**
 * Uploaded archives, each under the id of the deployment that brought it. Retries and roll-backs refer to it by that id, so it
 * is there once, for as long as one of them may be wanted again.
 */
const bundlesOf = (dataDir: string, projectId: string): string => join(dataDir, 'archives', projectId)
export const bundleFile = (dataDir: string, projectId: string, deploymentId: string): string => join(bundlesOf(dataDir, projectId), deploymentId)

/** Takes a checked archive in; it survives a power cut when this resolves. Its row comes after it: see `sweepBundles`. */
export async function keepBundle(dataDir: string, projectId: string, deploymentId: string, file: string): Promise<void> {
  const place = bundleFile(dataDir, projectId, deploymentId)
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  await rename(file, place)
  if (process.platform === 'win32') return
  const folder = await open(dirname(place), 'r')
  await folder.sync().finally(() => folder.close())
}

export const dropBundle = (dataDir: string, projectId: string, deploymentId: string): Promise<void> =>
  rm(bundleFile(dataDir, projectId, deploymentId), { force: true, maxRetries: 3 })

export const dropBundles = (dataDir: string, projectId: string): Promise<void> =>
  rm(bundlesOf(dataDir, projectId), { recursive: true, force: true, maxRetries: 3 })

/** Frees the archives that no deployment needs which is open, serves, or is one of the last to be kept. */
export async function pruneBundles(deps: YardDeps, projectId: string): Promise<void> {
  const there = await namesIn(bundlesOf(deps.data_dir, projectId))
  if (there.length === 0) return
  const uses = await deps.store.db.read((tx) => listBundleUses(tx, projectId))
  const keep = Math.max(2, deps.settings().keep_deployments)
  const ended = uses.filter((use) => !use.is_open)
  const kept = new Set(
    [
      ...uses.filter((use) => use.is_open || use.is_current === 1),
      ...ended.slice(0, keep),
      ...ended.filter((use) => use.status === 'ready').slice(0, keep),
    ].map((use) => use.bundle),
  )
  // One without a row is just being taken in.
  const known = new Set(uses.map((use) => use.bundle))
  for (const id of there) if (known.has(id) && !kept.has(id)) await dropBundle(deps.data_dir, projectId, id)
}

/** At the start: archives whose row was never written, because the platform ended in between. */
export async function sweepBundles(deps: YardDeps): Promise<void> {
  const root = join(deps.data_dir, 'archives')
  for (const projectId of await namesIn(root)) {
    for (const id of await namesIn(join(root, projectId))) {
      const row = await deps.store.db.read((tx) => findDeploymentById(tx, id))
      if (row?.project_id !== projectId) await dropBundle(deps.data_dir, projectId, id)
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
