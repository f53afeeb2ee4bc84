import { join, relative, sep } from 'node:path'
import { listRetentionCandidates, type RetentionRow } from '../store/retention-candidates.ts'
import { listProjectIds } from '../store/projects.ts'
import type { DeploymentContext } from './context.ts'
import { listArtifacts, parseStoredVersion } from './version.ts'

/** Resources in use by builds, apps and failed deployments; all other resources of this instance may be removed. */
export interface ResourcesInUse {
  /** Projects with a row, including those being removed. */
  projects: Set<string>
  /** Projects with a running or queued build: their caches are in use. */
  busy: Set<string>
  /** Deployments that have not ended. */
  open: Set<string>
  /** Deployments that are live or asleep, or in quarantine. */
  serving: Set<string>
  /** Images by name. */
  images: Set<string>
  /** Folders in `bundles/`. */
  folders: Set<string>
  /** Stored sources by their deployment: archives and copies of folders. */
  sources: Set<string>
}

/** The minimum of the setting: the current build and the one before are always kept. */
const minimumKept = 2

/**
 * Selects deployments whose build is kept, and those whose source is kept. Production and previews are counted separately, so that previews do not
 * displace rollback targets; a closed preview keeps nothing. `rows`: newest first.
 */
export function selectRetained(
  rows: readonly RetentionRow[],
  keep: number,
  openBranches: ReadonlySet<string>,
): { builds: Set<string>; sources: Set<string> } {
  const builds = new Set<string>()
  const sources = new Set<string>()
  for (const target of ['production', 'preview'] as const) {
    const targetRows = rows.filter(
      (row) => row.target === target && (target === 'production' || row.is_current === 1 || openBranches.has(row.branch ?? '')),
    )
    const ended = targetRows.filter((row) => !row.is_open)
    const ready = ended.filter((row) => row.status === 'ready')
    const maximum = target === 'production' ? Math.max(minimumKept, keep) : keep
    const built = ready.filter((row) => row.has_artifact === 1)
    for (const row of [...built.slice(0, maximum), ...targetRows.filter((one) => one.is_current === 1)]) builds.add(row.id)
    const withSource = [...targetRows.filter((row) => row.is_open || row.is_current === 1), ...ended.slice(0, maximum), ...ready.slice(0, maximum)]
    for (const row of withSource) if (row.source !== 'git') sources.add(row.source_id)
  }
  return { builds, sources }
}

/** The kept resources of a project, and the rows that use them. */
export async function readRetained(context: DeploymentContext, projectId: string) {
  const keep = context.settings().keep_deployments
  const { rows, branches } = await context.store.db.read((tx) => listRetentionCandidates(tx, projectId, Math.max(minimumKept, keep)))
  return { rows, ...selectRetained(rows, keep, branches) }
}

/** Reads every project, one after the other, so that other work is not delayed. `includeUnpruned`: every resource with a row counts as needed. `quarantined`: without rows. */
export async function readResourcesInUse(
  context: DeploymentContext,
  includeUnpruned: boolean,
  quarantined: readonly { project_id: string; deployment_id: string }[],
): Promise<ResourcesInUse> {
  const inUse: ResourcesInUse = {
    projects: new Set(await context.store.db.read(listProjectIds)),
    busy: new Set(),
    open: new Set(),
    serving: new Set(),
    images: new Set(),
    folders: new Set(),
    sources: new Set(),
  }
  for (const project of inUse.projects) {
    const { rows, builds, sources } = await readRetained(context, project)
    for (const id of sources) inUse.sources.add(id)
    for (const row of rows) {
      if (row.is_open) {
        inUse.busy.add(project)
        inUse.open.add(row.id)
      }
      if (row.is_current === 1) inUse.serving.add(row.id)
      if (row.is_open || row.is_current === 1) inUse.folders.add(row.id)
      if (row.artifact === null || !(includeUnpruned || builds.has(row.id) || row.is_open)) continue
      for (const artifact of listArtifacts(parseStoredVersion(row.artifact))) {
        if (artifact.kind === 'image') inUse.images.add(artifact.image)
        else inUse.folders.add(getBundleFolderName(artifact.directory, context.data_dir))
      }
    }
  }
  for (const { project_id, deployment_id } of quarantined) {
    inUse.projects.add(project_id)
    inUse.serving.add(deployment_id)
    inUse.folders.add(deployment_id)
  }
  return inUse
}

/** The folder in `bundles/` of an artifact: for a rollback, the folder of the deployment that built it. */
const getBundleFolderName = (directory: string, dataDir: string): string => relative(join(dataDir, 'bundles'), directory).split(sep)[0] ?? ''
