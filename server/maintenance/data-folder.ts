import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskKind } from '../contract/maintenance.ts'
import type { ResourcesInUse } from '../deployments/retention.ts'

/** A part of the data folder that is kept or removed as a whole. */
export interface DataFolderUnit {
  kind: DiskKind
  path: string
  /** Whether the unit must be kept; checked again right before a removal. */
  is_needed(needs: ResourcesInUse): boolean
}

/** Files newer than this may belong to a deployment without a row yet. */
const recent_ms = 10 * 60_000

/** All files in the data folder, each in one unit. */
export async function listDataFolderUnits(data_dir: string, now: number, isKnown: (deploymentId: string) => boolean): Promise<DataFolderUnit[]> {
  const units: DataFolderUnit[] = []
  const addUnit = (kind: DiskKind, path: string, is_needed: DataFolderUnit['is_needed'] = () => true) => units.push({ kind, path, is_needed })
  /** Adds each entry of a folder as a unit. */
  const addEntries = async (kind: DiskKind, folder: string, is_needed: (name: string, needs: ResourcesInUse) => boolean) => {
    for (const name of await listNames(folder)) {
      const path = join(folder, name)
      const info = await stat(path).catch(() => undefined)
      const isRecent = !info || now - info.mtimeMs < recent_ms
      addUnit(kind, path, (needs) => isRecent || is_needed(name, needs))
    }
  }

  for (const name of await listNames(data_dir)) {
    const path = join(data_dir, name)
    if (name === 'bundles') await addEntries('bundles', path, (one, needs) => needs.folders.has(one))
    else if (name === 'sources') await addEntries('bundles', path, (one, needs) => needs.sources.has(one))
    // Each work folder has the home folder of its build next to it.
    else if (name === 'work') await addEntries('bundles', path, (one, needs) => needs.open.has(one.replace(/-home$/, '')))
    else if (name === 'archives')
      for (const project of await listNames(path)) await addEntries('bundles', join(path, project), (one, needs) => needs.sources.has(one))
    else if (name === 'screenshots')
      for (const project of await listNames(path)) await addEntries('screenshots', join(path, project), (one) => isKnown(one.split('-')[0] ?? ''))
    else if (name === 'cache') await listCaches(path)
    else addUnit(classifyFile(name), path)
  }
  return units

  async function listCaches(root: string): Promise<void> {
    for (const name of await listNames(root)) {
      const path = join(root, name)
      if (name === 'edge') addUnit('edge_cache', path)
      else if (name === 'dependencies' || name === 'frameworks')
        for (const project of await listNames(path)) addUnit('build_cache', join(path, project), (needs) => needs.busy.has(project))
      // Caches of package managers, shared by all builds.
      else if (['npm', 'pnpm', 'yarn'].includes(name)) addUnit('build_cache', path, (needs) => needs.busy.size > 0)
      else addUnit('other', path)
    }
  }
}

/** Files of a database start with its name: `logs.db-wal`, `logs.db.damaged`. */
function classifyFile(name: string): DiskKind {
  if (name.startsWith('homeport.db')) return 'instance_database'
  if (name === 'logs' || name.startsWith('logs.db') || name.startsWith('requests.db') || name.startsWith('traces.db')) return 'logs'
  if (name.startsWith('metrics.db')) return 'metrics'
  if (name === 'postgres' || name.startsWith('postgres-')) return 'databases'
  if (name === 'volumes') return 'app_volumes'
  if (name === 'volume-snapshots') return 'volume_snapshots'
  if (name === 'dumps' || name === 'backups') return name
  return 'other'
}

const listNames = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
