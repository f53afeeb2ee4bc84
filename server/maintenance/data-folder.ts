import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskKind } from '../contract/maintenance.ts'
import type { ResourcesInUse } from '../deployments/retention.ts'

/** Something in the data folder that is kept or let go of as a whole. */
export interface DataFolderUnit {
  kind: DiskKind
  path: string
  /** Whether it has to stay; asked again right before it is removed. */
  is_needed(needs: ResourcesInUse): boolean
}

/** What was made so lately may be of something that has no row yet. */
const recent_ms = 10 * 60_000

/** Everything in the data folder, each file in one unit. */
export async function listDataFolderUnits(data_dir: string, now: number, isKnown: (deploymentId: string) => boolean): Promise<DataFolderUnit[]> {
  const units: DataFolderUnit[] = []
  const addUnit = (kind: DiskKind, path: string, is_needed: DataFolderUnit['is_needed'] = () => true) => units.push({ kind, path, is_needed })
  /** Each entry of a folder on its own. */
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
    // Beside each stands the home folder of its build.
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
      // Of package managers, shared by all builds.
      else if (['npm', 'pnpm', 'yarn'].includes(name)) addUnit('build_cache', path, (needs) => needs.busy.size > 0)
      else addUnit('other', path)
    }
  }
}

/** The files of a database go by its name: `logs.db-wal`, `logs.db.damaged`. */
function classifyFile(name: string): DiskKind {
  if (name.startsWith('homeport.db')) return 'ledger'
  if (name === 'logs' || name.startsWith('logs.db')) return 'logs'
  if (name.startsWith('metrics.db')) return 'metrics'
  if (name === 'postgres') return 'databases'
  if (name === 'dumps' || name === 'backups') return name
  return 'other'
}

const listNames = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
