import { join, relative, sep } from 'node:path'
import type { Artifact } from '../runtime/runtime.ts'
import { listForRetention, type RetentionRow } from '../store/deployments.ts'
import { listProjectIds } from '../store/projects.ts'
import type { YardDeps } from './yard.ts'

/** What is needed of all that builds, runs and failures leave: what of ours is not named here may go. */
export interface Needs {
  /** With a row, those included whose removal is under way. */
  projects: Set<string>
  /** Projects something of which is being built, or waits for it: their caches are in use. */
  busy: Set<string>
  /** Deployments under way. */
  open: Set<string>
  /** Deployments that serve or sleep. */
  serving: Set<string>
  /** Images by name. */
  images: Set<string>
  /** Folders in `bundles/`. */
  folders: Set<string>
  /** Kept sources by the deployment that brought them: archives and copies of folders. */
  sources: Set<string>
}

/** Whoever sets it so low loses no way back: what serves, and what served before it. */
const least = 2

/**
 * Which deployments keep their build, and whose source is kept. Production and previews are counted apart, so that branches do not
 * push the way back out; a preview that is closed keeps nothing. `rows`: newest first.
 */
export function keptOf(
  rows: readonly RetentionRow[],
  keep: number,
  openBranches: ReadonlySet<string>,
): { builds: Set<string>; sources: Set<string> } {
  const builds = new Set<string>()
  const sources = new Set<string>()
  for (const target of ['production', 'preview'] as const) {
    const here = rows.filter(
      (row) => row.target === target && (target === 'production' || row.is_current === 1 || openBranches.has(row.branch ?? '')),
    )
    const ended = here.filter((row) => !row.is_open)
    const ready = ended.filter((row) => row.status === 'ready')
    const most = target === 'production' ? Math.max(least, keep) : keep
    const built = ready.filter((row) => row.has_artifact === 1)
    for (const row of [...built.slice(0, most), ...here.filter((one) => one.is_current === 1)]) builds.add(row.id)
    const wanted = [...here.filter((row) => row.is_open || row.is_current === 1), ...ended.slice(0, most), ...ready.slice(0, most)]
    for (const row of wanted) if (row.source !== 'git') sources.add(row.source_id)
  }
  return { builds, sources }
}

/** What of a project is kept, and the rows that say so. */
export async function readKept(deps: YardDeps, projectId: string) {
  const keep = deps.settings().keep_deployments
  const { rows, branches } = await deps.store.db.read((tx) => listForRetention(tx, projectId, Math.max(least, keep)))
  return { rows, ...keptOf(rows, keep, branches) }
}

/** Looks at every project, one after the other, so that nothing else waits for it. `named`: whatever a row names is needed. */
export async function readNeeds(deps: YardDeps, named: boolean): Promise<Needs> {
  const needs: Needs = {
    projects: new Set(await deps.store.db.read(listProjectIds)),
    busy: new Set(),
    open: new Set(),
    serving: new Set(),
    images: new Set(),
    folders: new Set(),
    sources: new Set(),
  }
  for (const project of needs.projects) {
    const { rows, builds, sources } = await readKept(deps, project)
    for (const id of sources) needs.sources.add(id)
    for (const row of rows) {
      if (row.is_open) {
        needs.busy.add(project)
        needs.open.add(row.id)
      }
      if (row.is_current === 1) needs.serving.add(row.id)
      if (row.is_open || row.is_current === 1) needs.folders.add(row.id)
      if (row.artifact === null || !(named || builds.has(row.id) || row.is_open)) continue
      const artifact = JSON.parse(row.artifact) as Artifact
      if (artifact.kind === 'image') needs.images.add(artifact.image)
      else needs.folders.add(folderOf(artifact.directory, deps.data_dir))
    }
  }
  return needs
}

/** The folder of `bundles/` that an artifact lies in: a roll-back's lies in that of the deployment that built it. */
const folderOf = (directory: string, dataDir: string): string => relative(join(dataDir, 'bundles'), directory).split(sep)[0] ?? ''
