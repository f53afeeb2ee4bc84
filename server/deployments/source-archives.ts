import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findDeploymentById, filterKnownDeploymentIds } from '../store/deployments.ts'
import type { DeploymentContext } from './context.ts'

/**
 * Uploaded archives, each under the id of the deployment that brought it. Retries and roll-backs refer to it by that id, so it
 * is there once, for as long as one of them may be wanted again.
 */
const getArchiveFolder = (dataDir: string, projectId: string): string => join(dataDir, 'archives', projectId)
export const getArchiveFile = (dataDir: string, projectId: string, deploymentId: string): string =>
  join(getArchiveFolder(dataDir, projectId), deploymentId)

/** The copy of a folder as it was when it was deployed. */
export const getSnapshotFolder = (dataDir: string, deploymentId: string): string => join(dataDir, 'sources', deploymentId)

/** Takes a checked archive in; it survives a power cut when this resolves. Its row comes after it: see `sweepBundles`. */
export async function storeArchive(dataDir: string, projectId: string, deploymentId: string, file: string): Promise<void> {
  const target = getArchiveFile(dataDir, projectId, deploymentId)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await rename(file, target)
  if (process.platform === 'win32') return
  const folder = await open(dirname(target), 'r')
  await folder.sync().finally(() => folder.close())
}

export const deleteArchive = (dataDir: string, projectId: string, deploymentId: string): Promise<void> =>
  rm(getArchiveFile(dataDir, projectId, deploymentId), { force: true, maxRetries: 3 })

export const deleteProjectArchives = (dataDir: string, projectId: string): Promise<void> =>
  rm(getArchiveFolder(dataDir, projectId), { recursive: true, force: true, maxRetries: 3 })

/** The deployments that brought the archives and copies of folders that are there of a project. */
export async function listStoredSources(context: DeploymentContext, projectId: string): Promise<Set<string>> {
  const archives = await listNames(getArchiveFolder(context.data_dir, projectId))
  const snapshots = await listNames(join(context.data_dir, 'sources'))
  const ids = [...archives, ...snapshots]
  // One without a row is just being taken in; and the copies of all projects lie side by side.
  return ids.length === 0 ? new Set() : context.store.db.read((tx) => filterKnownDeploymentIds(tx, projectId, ids))
}

export async function deleteStoredSource(context: DeploymentContext, projectId: string, deploymentId: string): Promise<void> {
  await deleteArchive(context.data_dir, projectId, deploymentId)
  await rm(getSnapshotFolder(context.data_dir, deploymentId), { recursive: true, force: true, maxRetries: 3 })
}

/** At the start: archives whose row was never written, because the platform ended in between. */
export async function deleteOrphanedArchives(context: DeploymentContext): Promise<void> {
  const root = join(context.data_dir, 'archives')
  for (const projectId of await listNames(root)) {
    for (const id of await listNames(join(root, projectId))) {
      const row = await context.store.db.read((tx) => findDeploymentById(tx, id))
      if (row?.project_id !== projectId) await deleteArchive(context.data_dir, projectId, id)
    }
  }
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
