import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Source } from '../contract/deployment-source.ts'
import { findDeploymentById, filterKnownDeploymentIds } from '../store/deployments.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'

/**
 * Uploaded archives, each under the id of its deployment. Retries and rollbacks refer to the archive by that id, so it is stored once, as long as
 * one of them may need it.
 */
const getArchiveFolder = (dataDir: string, projectId: string): string => join(dataDir, 'archives', projectId)
export const getArchiveFile = (dataDir: string, projectId: string, deploymentId: string): string =>
  join(getArchiveFolder(dataDir, projectId), deploymentId)

/** The copy of a folder as of its deployment. */
export const getSnapshotFolder = (dataDir: string, deploymentId: string): string => join(dataDir, 'sources', deploymentId)

/** The stored copy that a source uses or, while it is fetched, creates. */
export function getStoredSource(dataDir: string, row: Pick<DeploymentRow, 'id' | 'project_id'>, source: Source): string | undefined {
  if (source.kind === 'git') return undefined
  const id = source.of ?? row.id
  return source.kind === 'archive' ? getArchiveFile(dataDir, row.project_id, id) : getSnapshotFolder(dataDir, id)
}

/** Stores a checked archive; the archive survives a power failure once this resolves. The row is inserted later: see `deleteOrphanedArchives`. */
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

/** The deployments of a project that have a stored archive or copy of a folder. */
export async function listStoredSources(context: DeploymentContext, projectId: string): Promise<Set<string>> {
  const archives = await listNames(getArchiveFolder(context.data_dir, projectId))
  const snapshots = await listNames(join(context.data_dir, 'sources'))
  const ids = [...archives, ...snapshots]
  // An archive without a row is being received, and copies of all projects are in one folder, so only ids with a row are returned.
  return ids.length === 0 ? new Set() : context.store.db.read((tx) => filterKnownDeploymentIds(tx, projectId, ids))
}

export async function deleteStoredSource(context: DeploymentContext, projectId: string, deploymentId: string): Promise<void> {
  await deleteArchive(context.data_dir, projectId, deploymentId)
  await rm(getSnapshotFolder(context.data_dir, deploymentId), { recursive: true, force: true, maxRetries: 3 })
}

/** At startup: deletes archives without a row, left when the platform ended before the row was written. */
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
