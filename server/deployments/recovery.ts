import type { DeploymentFailure } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { isoTime } from '../lib/clock.ts'
import type { ExistingReplica } from '../runtime/runtime.ts'
import { finishSteps, insertCleanup, listCurrentDeployments, listInterruptedDeployments, compareAndSwapStatus } from '../store/deployments.ts'
import { parseLogRecord } from '../store/log-records.ts'
import { findPreview } from '../store/previews.ts'
import { findProject, recomputeProjectStatus } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { getEnvironmentId, getServiceLogName } from './supervised-app.ts'
import type { Quarantine } from './quarantine.ts'
import type { Supervisor } from './supervisor.ts'
import type { CleanupTask } from './cleanup-task.ts'
import { cleanUpAttempts } from './cleanup.ts'
import { recordDeployment } from './outcome.ts'
import { undoInterruptedForks } from './fork-undo.ts'
import { undoInterruptedReplacements } from './replace-volume.ts'
import { createAppSpec } from './app-spec.ts'
import { readSecrets } from './variables.ts'
import type { DeploymentContext } from './context.ts'
import { parseStoredVersion } from './version.ts'

/** The end of a log may only have changes of state. */
const searchedBytes = 100_000

/** A second interruption fails the deployment, because the deployment itself may crash the platform. */
const maxAttempts = 2

/**
 * After a restart, interrupted deployments are queued again or fail with `interrupted`. The rows are updated immediately; `cleanUpAttempts` removes
 * leftovers of the attempts when their runtime is available.
 */
export async function recoverInterrupted(context: DeploymentContext): Promise<void> {
  const now = isoTime(context.clock.now())
  const error: DeploymentFailure = {
    code: 'interrupted',
    message: 'Homeport stopped twice while this deployment was running.',
    hint: 'Deploy again. If Homeport stops again, run homeport doctor.',
  }
  const interrupted = await context.store.db.read(listInterruptedDeployments)
  // A deployment in the route step may have had the traffic for a moment, so its cached responses are removed.
  for (const row of interrupted) {
    if (row.status !== 'deploying') continue
    const preview = await context.store.db.read((tx) => findPreview(tx, row.project_id, row.branch ?? ''))
    // Cached responses of a closed preview are removed with its other resources.
    if (row.target === 'production' || preview) await context.purgeEdgeCache(row.project_id, row.target === 'production' ? undefined : preview?.host)
  }
  await context.store.db.write((tx) => {
    for (const row of listInterruptedDeployments(tx)) {
      const isClosed = row.target === 'preview' && !findPreview(tx, row.project_id, row.branch ?? '')
      insertCleanup(tx, { kind: 'attempt', deployment_id: row.id, runtime: row.runtime } satisfies CleanupTask, now)
      if (isClosed) {
        compareAndSwapStatus(tx, row.id, [row.status], 'canceled', { finished_at: now, artifact: null })
        finishSteps(tx, row.id, 'canceled', now)
      } else if (row.attempt >= maxAttempts) {
        compareAndSwapStatus(tx, row.id, [row.status], 'failed', { finished_at: now, error: JSON.stringify(error), artifact: null })
        finishSteps(tx, row.id, 'failed', now)
        recordDeployment(tx, now, row, 'failed', error.code)
      } else compareAndSwapStatus(tx, row.id, [row.status], 'queued', { started_at: null, artifact: null })
      recomputeProjectStatus(tx, row.project_id, now)
    }
  })
}

const engineRetry_ms = 2_000
/** One app whose data cannot be restored must not keep all others from starting. */
const maxUndoAttempts = 5

/**
 * Restores the apps of a runtime once it is available; until then their pages show that they are starting. Leftovers of dead attempts are removed
 * at the same time, and builds start only after that. False: the platform is being closed.
 */
export async function recoverWhenAvailable(
  context: DeploymentContext,
  supervisor: Supervisor,
  quarantine: Pick<Quarantine, 'holds'>,
  name: RuntimeName,
  signal: AbortSignal,
): Promise<boolean> {
  for (let undoing = 1; !signal.aborted;) {
    try {
      if ((await context.runtime(name).probe()).available) {
        const isLast = undoing++ >= maxUndoAttempts
        await undoInterruptedForks(context, name, isLast)
        await undoInterruptedReplacements(context, name, isLast)
        await recoverApps(context, supervisor, quarantine, name)
        await cleanUpAttempts(context, name)
        return true
      }
    } catch (error) {
      // Docker may become unavailable during the recovery.
      context.log.warn('recovery_postponed', { runtime: name, error })
    }
    if (!(await context.pause(engineRetry_ms, signal))) return false
  }
  return false
}

/** Restores every app that should be live on this runtime, and removes every other replica that the database knows. Can be repeated. */
async function recoverApps(
  context: DeploymentContext,
  supervisor: Supervisor,
  quarantine: Pick<Quarantine, 'holds'>,
  runtime: RuntimeName,
): Promise<void> {
  const driver = context.runtime(runtime)
  const current = (await context.store.db.read((tx) => listCurrentDeployments(tx))).filter((row) => row.runtime === runtime)
  const existing = await driver.list()
  const adoptedIds = new Set<string>()
  for (const row of current) {
    // Handled by an earlier call that was interrupted when Docker became unavailable.
    if (supervisor.isSupervising(row.id)) {
      const owners = [row.id, getEnvironmentId(row)]
      for (const candidate of existing) if (owners.includes(candidate.deployment_id)) adoptedIds.add(candidate.id)
      continue
    }
    try {
      for (const id of await recoverApp(context, supervisor, row, existing)) adoptedIds.add(id)
    } catch (error) {
      context.log.error('app_recovery_failed', { deployment: row.id, error })
    }
  }
  for (const candidate of existing) {
    if (adoptedIds.has(candidate.id) || (await quarantine.holds(runtime, candidate))) continue
    await stopLeftover(context, runtime, candidate.id, 0)
  }
}

/** Databases among them need time to stop. */
const imageGrace_ms = 10_000

const stopLeftover = ({ runtime, log }: DeploymentContext, name: RuntimeName, id: string, grace_ms: number): Promise<void> =>
  runtime(name)
    .stop(id, grace_ms)
    .catch((error: unknown) => log.warn('leftover_cleanup_failed', { replica: id, error }))

async function recoverApp(
  context: DeploymentContext,
  supervisor: Supervisor,
  deployment: DeploymentRow,
  existing: ExistingReplica[],
): Promise<string[]> {
  const project = await context.store.db.read((tx) => findProject(tx, deployment.project_id))
  const isPreview = deployment.target === 'preview'
  if (!project || deployment.artifact === null || (project.stopped_at !== null && !isPreview)) return []
  const preview = isPreview ? await context.store.db.read((tx) => findPreview(tx, project.id, deployment.branch ?? '')) : undefined
  if (isPreview && !preview) return []
  const secrets = await readSecrets(context, project, deployment)
  const spec = createAppSpec({ context, deployment, project, secrets }, parseStoredVersion(deployment.artifact))
  // Read before the first adoption writes to the logs.
  const mainLineAt = readLastLineTime(context, getEnvironmentId(deployment), deployment.id)
  const found = existing.map((one) => {
    const isMain = one.service === (spec.service?.name ?? null)
    const logName = getServiceLogName(spec.environment_id, one.service ?? '')
    return { ...one, last_line_at: isMain ? mainLineAt : readLastLineTime(context, logName) }
  })
  const adoptedIds = await supervisor.adoptServices(spec, found)
  // Images that an interrupted deployment had put in place of these: both have the same volumes.
  for (const one of existing)
    if (one.deployment_id === spec.environment_id && !adoptedIds.includes(one.id))
      await stopLeftover(context, deployment.runtime, one.id, imageGrace_ms)
  const replica = found.find(
    (one) => one.deployment_id === deployment.id && one.service === (spec.service?.name ?? null) && one.replica === 1 && one.running && one.adoptable,
  )
  const { listen_port } = deployment
  if (replica && (await supervisor.adopt(spec, { ...replica, listen_port }))) return [...adoptedIds, replica.id]
  const canSleep = !spec.always_warm && spec.artifact !== null && spec.artifact.kind !== 'static'
  supervisor.restore(spec, (preview ?? project).is_cold === 1 && canSleep)
  return adoptedIds
}

/** When the last line of a log, or of a deployment in it, was stored; later output must still be read. */
function readLastLineTime(context: DeploymentContext, logName: string, deploymentId?: string): number | null {
  for (const { body } of context.store.logs.readTail(logName, searchedBytes).toReversed())
    for (const record of body.split('\n').toReversed()) {
      const line = parseLogRecord(record)
      if (line && (deploymentId === undefined || line.deployment_id === deploymentId)) return Date.parse(line.ts)
    }
  return null
}
