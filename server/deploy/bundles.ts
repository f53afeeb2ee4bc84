import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findDeploymentById, listKnown } from '../store/deployments.ts'
import type { YardDeps } from './yard.ts'

/**
 * Uploaded archives, each under the id of the deployment that brought it. Retries and roll-backs refer to it by that id, so it
 * is there once, for as long as one of them may be wanted again.
 */
const bundlesOf = (dataDir: string, projectId: string): string => join(dataDir, 'archives', projectId)
export const bundleFile = (dataDir: string, projectId: string, deploymentId: string): string => join(bundlesOf(dataDir, projectId), deploymentId)

/** The copy of a folder as it was when it was deployed. */
export const snapshotFolder = (dataDir: string, deploymentId: string): string => join(dataDir, 'sources', deploymentId)

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

/** The deployments that brought the archives and copies of folders that are there of a project. */
export async function listSources(deps: YardDeps, projectId: string): Promise<Set<string>> {
  const archives = await namesIn(bundlesOf(deps.data_dir, projectId))
  const copies = await namesIn(join(deps.data_dir, 'sources'))
  const there = [...archives, ...copies]
  // One without a row is just being taken in; and the copies of all projects lie side by side.
  return there.length === 0 ? new Set() : deps.store.db.read((tx) => listKnown(tx, projectId, there))
}

export async function dropSource(deps: YardDeps, projectId: string, deploymentId: string): Promise<void> {
  await dropBundle(deps.data_dir, projectId, deploymentId)
  await rm(snapshotFolder(deps.data_dir, deploymentId), { recursive: true, force: true, maxRetries: 3 })
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
