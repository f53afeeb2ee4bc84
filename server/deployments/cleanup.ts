import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { rm } from 'node:fs/promises'
import type { RuntimeName } from '../contract/runtimes.ts'
import { isoTime } from '../lib/clock.ts'
import {
  listStoredVersions,
  listVersionsOfReadyImages,
  listPreviewDeployments,
  findDeploymentById,
  insertCleanup,
  listCleanups,
  deleteProjectRows,
  deleteCleanup,
  updateDeployment,
  listDeploymentsOfProject,
} from '../store/deployments.ts'
import { findFork } from '../store/forks.ts'
import { listProjectIds } from '../store/projects.ts'
import { findPreview, findPreviewByHost } from '../store/previews.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { getEnvironmentId, getServiceLogName } from './supervised-app.ts'
import { deleteProjectArchives, deleteStoredSource, listStoredSources, getSnapshotFolder } from './source-archives.ts'
import { readRetained } from './retention.ts'
import { getWorkFolder } from './steps/clone.ts'
import { isTerminal } from './status-transitions.ts'
import type { DeploymentContext } from './context.ts'
import type { CleanupTask } from './cleanup-task.ts'
import { listArtifacts, parseStoredVersion } from './version.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

/** Runs all due tasks and returns the number of failed ones, which stay due. `isStopping`: a project whose apps still end; it is cleaned up after that. */
export async function runCleanups(context: DeploymentContext, isStopping: (projectId: string) => boolean): Promise<number> {
  let remaining = 0
  for (const row of await context.store.db.read(listCleanups)) {
    try {
      const task = JSON.parse(row.work) as CleanupTask
      if (task.kind === 'project' && isStopping(task.project_id)) continue
      if (task.kind === 'project') await cleanUpProject(context, task.project_id)
      else if (task.kind === 'preview') await cleanUpPreview(context, task)
      else if (task.kind === 'database') await context.databases.finishDrop(task)
      else if (task.kind === 'instance') await context.runtime(task.runtime).stop(task.instance_id, 0)
      else if (task.kind === 'build') await context.runtime(task.runtime).discard(task.deployment_id, task.artifact)
      else if (await willRunAgain(context, task.deployment_id)) continue
      else await cleanUpAttempt(context, task)
      await context.store.db.write((tx) => deleteCleanup(tx, row.seq))
    } catch (error) {
      remaining++
      context.log.warn('cleanup_postponed', { work: row.work, error })
    }
  }
  return remaining
}

/** A new attempt uses the same names, so its leftovers are removed by `cleanUpAttempts` before a build starts. */
async function willRunAgain(context: DeploymentContext, deploymentId: string): Promise<boolean> {
  const row = await context.store.db.read((tx) => findDeploymentById(tx, deploymentId))
  return row !== undefined && !isTerminal(row.status)
}

/** Removes all resources of dead attempts from a runtime. Must run before the first build on that runtime. */
export async function cleanUpAttempts(context: DeploymentContext, runtime: RuntimeName): Promise<void> {
  for (const row of await context.store.db.read(listCleanups)) {
    const task = JSON.parse(row.work) as CleanupTask
    if (task.kind !== 'attempt' || task.runtime !== runtime) continue
    await cleanUpAttempt(context, task)
    await context.store.db.write((tx) => deleteCleanup(tx, row.seq))
  }
}

async function cleanUpAttempt(context: DeploymentContext, task: { deployment_id: string; runtime: RuntimeName }): Promise<void> {
  await context.runtime(task.runtime).discard(task.deployment_id, null)
  await rm(getWorkFolder(context.data_dir, task.deployment_id), { recursive: true, force: true, maxRetries: 5 })
}

/** Deleting more at once would block the event loop. */
const requestBatch = 1000

async function cleanUpProject(context: DeploymentContext, projectId: string): Promise<void> {
  const rows = await context.store.db.read((tx) => listDeploymentsOfProject(tx, projectId))
  for (const runtime of new Set(rows.map((row) => row.runtime))) {
    const driver = context.runtime(runtime)
    for (const found of await driver.list()) if (found.project_id === projectId) await driver.stop(found.id, 0)
    await driver.removeProjectCaches(projectId)
    // Resources of production and of all previews.
    await driver.removeVolumes(projectId)
  }
  await createVolumeSnapshots(context.data_dir).removeAll(projectId)
  for (const row of rows) {
    await releaseBuild(context, row)
    // Removes the other resources of the attempt.
    await cleanUpAttempt(context, { deployment_id: row.id, runtime: row.runtime })
    await rm(getSnapshotFolder(context.data_dir, row.id), { recursive: true, force: true })
    await context.store.logs.remove(row.id)
  }
  await context.deleteScreenshots({ project_id: projectId })
  await deleteProjectArchives(context.data_dir, projectId)
  for (const name of new Set(rows.map(getEnvironmentId))) await removeRuntimeLogs(context, name)
  await context.store.logs.remove(projectId)
  context.edge.metrics.forgetProject(projectId)
  await context.store.metrics.remove(projectId)
  await context.store.usage.remove(projectId)
  context.edge.requests.forgetProject(projectId)
  while (context.store.requests.remove(projectId, requestBatch)) await yieldToEventLoop()
  await context.edge.cache.removeProject(projectId)
  await context.databases.forgetProject(projectId)
  await context.mailCatcher.forgetProject(projectId)
  await context.traces.forgetProject(projectId)
  await context.store.db.write((tx) => deleteProjectRows(tx, projectId))
}

/** The logs of an environment's main service and of its others. */
async function removeRuntimeLogs(context: DeploymentContext, environmentId: string): Promise<void> {
  await context.store.logs.remove(environmentId)
  await context.store.logs.removeAll(getServiceLogName(environmentId, ''))
}

async function cleanUpPreview(context: DeploymentContext, task: Extract<CleanupTask, { kind: 'preview' }>): Promise<void> {
  const { project_id, branch } = task
  const {
    rows,
    isBack: isReopened,
    isTaken: isHostReused,
  } = await context.store.db.read((tx) => ({
    rows: listPreviewDeployments(tx, project_id, branch).filter((row) => row.seq <= task.up_to),
    // The branch was pushed again, or got a copy of production's data meanwhile.
    isBack: findPreview(tx, project_id, branch) !== undefined || findFork(tx, project_id, branch) !== undefined,
    isTaken: findPreviewByHost(tx, task.host) !== undefined,
  }))
  const ids = new Set(rows.map((row) => row.id))
  for (const runtime of new Set(rows.map((row) => row.runtime))) {
    const driver = context.runtime(runtime)
    const environmentId = getEnvironmentId({ project_id, target: 'preview', branch })
    for (const found of await driver.list())
      if (ids.has(found.deployment_id) || (!isReopened && found.deployment_id === environmentId)) await driver.stop(found.id, 0)
    if (!isReopened) await driver.removeVolumes(`${environmentId}.`)
  }
  if (!isReopened) await createVolumeSnapshots(context.data_dir).removeAll(`${getEnvironmentId({ project_id, target: 'preview', branch })}.`)
  for (const row of rows) if (row.artifact !== null) await releaseBuild(context, row)
  for (const row of rows) await context.deleteScreenshots({ project_id, deployment_id: row.id })
  if (!isReopened) await removeRuntimeLogs(context, getEnvironmentId({ project_id, target: 'preview', branch }))
  if (!isReopened) await context.databases.dropPreview(project_id, branch)
  if (!isHostReused) await context.edge.cache.purgeHost(project_id, task.host)
}

/** Removes builds and sources of a project beyond the number to keep. The current ones and the one before production's are kept. */
export async function pruneProject(context: DeploymentContext, projectId: string): Promise<void> {
  // Listed before the retained rows are read, so that an upload in between is not deleted.
  const storedIds = await listStoredSources(context, projectId)
  const { rows, builds, sources } = await readRetained(context, projectId)
  for (const row of rows) if (row.has_artifact && !row.is_open && !builds.has(row.id)) await releaseBuild(context, { ...row, project_id: projectId })
  for (const id of storedIds) if (!sources.has(id)) await deleteStoredSource(context, projectId, id)
}

/** Prunes all projects, one after the other; a failure does not stop the rest. */
export async function pruneAllProjects(context: DeploymentContext): Promise<void> {
  for (const id of await context.store.db.read(listProjectIds))
    await pruneProject(context, id).catch((error: unknown) => context.log.warn('deployment_prune_failed', { project: id, error }))
  await pruneImages(context).catch((error: unknown) => context.log.warn('images_not_pruned', { error }))
}

async function pruneImages(context: DeploymentContext): Promise<void> {
  const runtime = context.runtime(context.default_runtime)
  if (!runtime.pruneImages) return
  const stored = await context.store.db.read(listVersionsOfReadyImages)
  const artifacts = stored.flatMap(({ artifact }) => (artifact === null ? [] : listArtifacts(parseStoredVersion(artifact))))
  await runtime.pruneImages(new Set(artifacts.flatMap((one) => (one.kind === 'image' && one.id !== undefined ? [one.id] : []))))
}

/** Releases a deployment's build. A rollback shares the build of its parent; the last deployment that uses a build removes it. */
async function releaseBuild(context: DeploymentContext, row: Pick<DeploymentRow, 'id' | 'project_id' | 'runtime'>): Promise<void> {
  // One transaction with the check for other users, because a rollback may start to use the build at the same moment.
  const released = await context.store.db.write((tx) => {
    const artifactJson = findDeploymentById(tx, row.id)?.artifact ?? null
    if (artifactJson === null) return undefined
    updateDeployment(tx, row.id, { artifact: null })
    // A rollback has the artifacts of its parent, and maybe volumes that were added since.
    const others = listStoredVersions(tx, row.project_id).flatMap(({ artifact }) =>
      artifact === null ? [] : listArtifacts(parseStoredVersion(artifact)),
    )
    const used = new Set(others.map((artifact) => JSON.stringify(artifact)))
    const unused = listArtifacts(parseStoredVersion(artifactJson)).filter((artifact) => !used.has(JSON.stringify(artifact)))
    return unused.map((artifact) => {
      const task = { kind: 'build', deployment_id: row.id, runtime: row.runtime, artifact } satisfies CleanupTask
      return { ...task, seq: insertCleanup(tx, task, isoTime(context.clock.now())) }
    })
  })
  await context.deleteScreenshots({ project_id: row.project_id, deployment_id: row.id })
  try {
    for (const { artifact, seq } of released ?? []) {
      await context.runtime(row.runtime).discard(row.id, artifact)
      await context.store.db.write((tx) => deleteCleanup(tx, seq))
    }
  } catch (error) {
    // The task stays due.
    context.log.warn('cleanup_postponed', { deployment: row.id, error })
    context.events.publish({ type: 'cleanup_due' })
  }
}
