import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DiskKind } from '../contract/upkeep.ts'
import type { Needs } from '../deploy/keep.ts'

/** Something in the data folder that is kept or let go of as a whole. */
export interface Unit {
  kind: DiskKind
  path: string
  /** Whether it has to stay; asked again right before it is removed. */
  is_needed(needs: Needs): boolean
}

/** What was made so lately may be of something that has no row yet. */
const young_ms = 10 * 60_000

/** Everything in the data folder, each file in one unit. */
export async function listUnits(data_dir: string, now: number, isKnown: (deploymentId: string) => boolean): Promise<Unit[]> {
  const units: Unit[] = []
  const add = (kind: DiskKind, path: string, is_needed: Unit['is_needed'] = () => true) => units.push({ kind, path, is_needed })
  /** Each entry of a folder on its own. */
  const each = async (kind: DiskKind, folder: string, is_needed: (name: string, needs: Needs) => boolean) => {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name)
      const made = await stat(path).catch(() => undefined)
      const is_young = !made || now - made.mtimeMs < young_ms
      add(kind, path, (needs) => is_young || is_needed(name, needs))
    }
  }

  for (const name of await namesIn(data_dir)) {
    const path = join(data_dir, name)
    if (name === 'bundles') await each('bundles', path, (one, needs) => needs.folders.has(one))
    else if (name === 'sources') await each('bundles', path, (one, needs) => needs.sources.has(one))
    // Beside each stands the home folder of its build.
    else if (name === 'work') await each('bundles', path, (one, needs) => needs.open.has(one.replace(/-home$/, '')))
    else if (name === 'archives')
      for (const project of await namesIn(path)) await each('bundles', join(path, project), (one, needs) => needs.sources.has(one))
    else if (name === 'screenshots')
      for (const project of await namesIn(path)) await each('screenshots', join(path, project), (one) => isKnown(one.split('-')[0] ?? ''))
    else if (name === 'cache') await listCaches(path)
    else add(kindOf(name), path)
  }
  return units

  async function listCaches(root: string): Promise<void> {
    for (const name of await namesIn(root)) {
      const path = join(root, name)
      if (name === 'edge') add('edge_cache', path)
      else if (name === 'dependencies' || name === 'frameworks')
        for (const project of await namesIn(path)) add('build_cache', join(path, project), (needs) => needs.busy.has(project))
      // Of package managers, shared by all builds.
      else if (['npm', 'pnpm', 'yarn'].includes(name)) add('build_cache', path, (needs) => needs.busy.size > 0)
      else add('other', path)
    }
  }
}

/** The files of a database go by its name: `logs.db-wal`, `logs.db.damaged`. */
function kindOf(name: string): DiskKind {
  if (name.startsWith('homeport.db')) return 'ledger'
  if (name === 'logs' || name.startsWith('logs.db')) return 'logs'
  if (name.startsWith('metrics.db')) return 'metrics'
  if (name === 'postgres') return 'databases'
  if (name === 'dumps' || name === 'backups') return name
  return 'other'
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
