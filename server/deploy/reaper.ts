import { rm } from 'node:fs/promises'
import type { RuntimeName } from '../contract/deployments.ts'
import type { Artifact } from '../runtime/runtime.ts'
import {
  countArtifactUsers,
  findDeploymentById,
  listCleanups,
  listCurrent,
  listWithArtifact,
  purgeProject,
  removeCleanup,
  updateDeployment,
} from '../store/deployments.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { dropBundles, pruneBundles } from './bundles.ts'
import { snapshotFolder, workFolder } from './run.ts'
import { isTerminal } from './states.ts'
import type { YardDeps } from './yard.ts'

/** What was promised and must be done even over a restart. */
export type Cleanup =
  | { kind: 'project'; project_id: string }
  /** What an attempt left that could not end in order: containers, images, folders. */
  | { kind: 'attempt'; deployment_id: string; runtime: RuntimeName }

/** Does everything that is due, and says how much could not be done: it stays due. */
export async function reap(deps: YardDeps): Promise<number> {
  let left = 0
  for (const row of await deps.store.db.read(listCleanups)) {
    try {
      const work = JSON.parse(row.work) as Cleanup
      if (work.kind === 'project') await cleanProject(deps, work.project_id)
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
    await discard(deps, row)
    deps.store.logs.remove(row.id)
  }
  await dropBundles(deps.data_dir, projectId)
  deps.store.logs.remove(projectId)
  deps.edge.meter.forget(projectId)
  deps.store.metrics.remove(projectId)
  await deps.edge.cache.forget(projectId)
  await deps.store.db.write((tx) => purgeProject(tx, projectId))
}

/** Frees the builds that are over the number to keep; the current one and the one before it always stay. */
export async function prune(deps: YardDeps, projectId: string): Promise<void> {
  const { rows, current } = await deps.store.db.read((tx) => ({
    rows: listWithArtifact(tx, projectId),
    current: new Set(listCurrent(tx, projectId).map((row) => row.id)),
  }))
  const ready = rows.filter((row) => row.status === 'ready')
  const kept = new Set([...ready.slice(0, Math.max(2, deps.settings().keep_deployments)).map((row) => row.id), ...current])
  for (const row of rows) if (!kept.has(row.id)) await discard(deps, row)
  await pruneBundles(deps, projectId)
}

async function discard(deps: YardDeps, row: DeploymentRow): Promise<void> {
  const { artifact } = row
  // A rollback shares what its parent built: the last one that uses it frees it.
  const shared = artifact !== null && (await deps.store.db.read((tx) => countArtifactUsers(tx, row.project_id, artifact))) > 1
  await deps.runtime(row.runtime).discard(row.id, artifact === null || shared ? null : (JSON.parse(artifact) as Artifact))
  await rm(workFolder(deps.data_dir, row.id), { recursive: true, force: true })
  await rm(snapshotFolder(deps.data_dir, row.id), { recursive: true, force: true })
  await deps.store.db.write((tx) => updateDeployment(tx, row.id, { artifact: null }))
}
