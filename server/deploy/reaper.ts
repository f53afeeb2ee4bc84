import { rm } from 'node:fs/promises'
import type { RuntimeName } from '../contract/deployments.ts'
import type { DatabaseDrop } from '../database/databases.ts'
import type { Artifact } from '../runtime/runtime.ts'
import { isoTime } from '../lib/clock.ts'
import {
  countArtifactUsers,
  listOfPreview,
  findDeploymentById,
  insertCleanup,
  listCleanups,
  purgeProject,
  removeCleanup,
  updateDeployment,
} from '../store/deployments.ts'
import { listProjectIds } from '../store/projects.ts'
import { findPreview, findPreviewByHost } from '../store/previews.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { logOf } from './app.ts'
import { dropBundles, dropSource, listSources, snapshotFolder } from './bundles.ts'
import { readKept } from './keep.ts'
import { workFolder } from './run.ts'
import { isTerminal } from './states.ts'
import type { YardDeps } from './yard.ts'

/** What was promised and must be done even over a restart. */
export type Cleanup =
  | { kind: 'project'; project_id: string }
  /** What an attempt left that could not end in order: containers, images, folders. */
  | { kind: 'attempt'; deployment_id: string; runtime: RuntimeName }
  /** What could not be stopped when it was over. */
  | { kind: 'instance'; runtime: RuntimeName; instance_id: string }
  /** A build that no row names any more. */
  | { kind: 'build'; deployment_id: string; runtime: RuntimeName; artifact: Artifact }
  /** What a preview left, up to this deployment: its branch may have come back since. */
  | { kind: 'preview'; project_id: string; branch: string; host: string; up_to: number }
  | DatabaseDrop

/** Does everything that is due, and says how much could not be done: it stays due. */
export async function reap(deps: YardDeps): Promise<number> {
  let left = 0
  for (const row of await deps.store.db.read(listCleanups)) {
    try {
      const work = JSON.parse(row.work) as Cleanup
      if (work.kind === 'project') await cleanProject(deps, work.project_id)
      else if (work.kind === 'preview') await cleanPreview(deps, work)
      else if (work.kind === 'database') await deps.databases.finishDrop(work)
      else if (work.kind === 'instance') await deps.runtime(work.runtime).stop(work.instance_id, 0)
      else if (work.kind === 'build') await deps.runtime(work.runtime).discard(work.deployment_id, work.artifact)
      else if (await beginsAgain(deps, work.deployment_id)) continue
      else await clearAttempt(deps, work)
      await deps.store.db.write((tx) => removeCleanup(tx, row.seq))
    } catch (error) {
      left++
      deps.log.warn('cleanup_postponed', { work: row.work, error })
    }
  }
  return left
}

/** An attempt that begins again bears the same name: `clearAttempts` is for those, before anything is built. */
async function beginsAgain(deps: YardDeps, deploymentId: string): Promise<boolean> {
  const row = await deps.store.db.read((tx) => findDeploymentById(tx, deploymentId))
  return row !== undefined && !isTerminal(row.status)
}

/** Everything that dead attempts left on a runtime. To be done before anything is built on it. */
export async function clearAttempts(deps: YardDeps, runtime: RuntimeName): Promise<void> {
  for (const row of await deps.store.db.read(listCleanups)) {
    const work = JSON.parse(row.work) as Cleanup
    if (work.kind !== 'attempt' || work.runtime !== runtime) continue
    await clearAttempt(deps, work)
    await deps.store.db.write((tx) => removeCleanup(tx, row.seq))
  }
}

async function clearAttempt(deps: YardDeps, work: { deployment_id: string; runtime: RuntimeName }): Promise<void> {
  await deps.runtime(work.runtime).discard(work.deployment_id, null)
  await rm(workFolder(deps.data_dir, work.deployment_id), { recursive: true, force: true, maxRetries: 5 })
}

async function cleanProject(deps: YardDeps, projectId: string): Promise<void> {
  const rows = await deps.store.db.read((tx) => tx.sqlAll<DeploymentRow>('SELECT * FROM deployments WHERE project_id = ?', projectId))
  for (const runtime of new Set(rows.map((row) => row.runtime))) {
    const driver = deps.runtime(runtime)
    for (const found of await driver.list()) if (found.project_id === projectId) await driver.stop(found.id, 0)
    await driver.forget(projectId)
  }
  for (const row of rows) {
    await release(deps, row)
    // What an attempt left besides a build.
    await clearAttempt(deps, { deployment_id: row.id, runtime: row.runtime })
    await rm(snapshotFolder(deps.data_dir, row.id), { recursive: true, force: true })
    deps.store.logs.remove(row.id)
  }
  await deps.forgetScreenshots({ project_id: projectId })
  await dropBundles(deps.data_dir, projectId)
  for (const name of new Set(rows.map(logOf))) deps.store.logs.remove(name)
  deps.store.logs.remove(projectId)
  deps.edge.meter.forget(projectId)
  deps.store.metrics.remove(projectId)
  await deps.edge.cache.forget(projectId)
  await deps.databases.forgetProject(projectId)
  await deps.store.db.write((tx) => purgeProject(tx, projectId))
}

async function cleanPreview(deps: YardDeps, work: Extract<Cleanup, { kind: 'preview' }>): Promise<void> {
  const { project_id, branch } = work
  const { rows, isBack, isTaken } = await deps.store.db.read((tx) => ({
    rows: listOfPreview(tx, project_id, branch).filter((row) => row.seq <= work.up_to),
    isBack: findPreview(tx, project_id, branch) !== undefined,
    isTaken: findPreviewByHost(tx, work.host) !== undefined,
  }))
  const ids = new Set(rows.map((row) => row.id))
  for (const runtime of new Set(rows.map((row) => row.runtime))) {
    const driver = deps.runtime(runtime)
    for (const found of await driver.list()) if (ids.has(found.deployment_id)) await driver.stop(found.id, 0)
  }
  for (const row of rows) if (row.artifact !== null) await release(deps, row)
  for (const row of rows) await deps.forgetScreenshots({ project_id, deployment_id: row.id })
  if (!isBack) deps.store.logs.remove(logOf({ project_id, target: 'preview', branch }))
  if (!isBack) await deps.databases.dropPreview(project_id, branch)
  if (!isTaken) await deps.edge.cache.purgeName(project_id, work.host)
}

/** Frees the builds and sources of a project that are over the number to keep; the current ones and the one before production's stay. */
export async function prune(deps: YardDeps, projectId: string): Promise<void> {
  // Before what is needed of them: an upload that comes in between is not among them.
  const there = await listSources(deps, projectId)
  const { rows, builds, sources } = await readKept(deps, projectId)
  for (const row of rows) if (row.has_artifact && !row.is_open && !builds.has(row.id)) await release(deps, { ...row, project_id: projectId })
  for (const id of there) if (!sources.has(id)) await dropSource(deps, projectId, id)
}

/** Every project's, one after the other; one that cannot be done does not hold up the rest. */
export async function pruneAll(deps: YardDeps): Promise<void> {
  for (const id of await deps.store.db.read(listProjectIds))
    await prune(deps, id).catch((error: unknown) => deps.log.warn('old_deployments_not_pruned', { project: id, error }))
}

/** Lets a deployment's build go. A roll-back shares what its parent built: the last one that uses it frees it. */
async function release(deps: YardDeps, row: Pick<DeploymentRow, 'id' | 'project_id' | 'runtime'>): Promise<void> {
  // One step with the look at who else uses it: a roll-back may take it at this very moment.
  const freed = await deps.store.db.write((tx) => {
    const text = findDeploymentById(tx, row.id)?.artifact ?? null
    if (text === null) return undefined
    updateDeployment(tx, row.id, { artifact: null })
    if (countArtifactUsers(tx, row.project_id, text) > 0) return undefined
    const work = { kind: 'build', deployment_id: row.id, runtime: row.runtime, artifact: JSON.parse(text) as Artifact } satisfies Cleanup
    return { ...work, seq: insertCleanup(tx, work, isoTime(deps.clock.now())) }
  })
  await deps.forgetScreenshots({ project_id: row.project_id, deployment_id: row.id })
  if (!freed) return
  try {
    await deps.runtime(row.runtime).discard(row.id, freed.artifact)
    await deps.store.db.write((tx) => removeCleanup(tx, freed.seq))
  } catch (error) {
    // It stays due.
    deps.log.warn('cleanup_postponed', { deployment: row.id, error })
    deps.bus.emit('cleanup')
  }
}
