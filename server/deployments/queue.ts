import { isoTime, type Timer } from '../lib/clock.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { Problem } from '../contract/errors.ts'
import { claimOldestQueued, resetSteps, compareAndSwapStatus, listQueuedRuntimes } from '../store/deployments.ts'
import { findWatch } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { Supervisor } from './supervisor.ts'
import { createDeploymentLog, type DeploymentLog } from './deployment-log.ts'
import { publishChange, describeFailure, endDeployment, maskFailure, type StopReason } from './outcome.ts'
import { isRestricted } from './pull-requests.ts'
import { type SecretMask, noMask } from './secret-mask.ts'
import { pruneProject } from './cleanup.ts'
import type { DeploymentRun } from './deployment-run.ts'
import { runDeployment } from './pipeline.ts'
import { getEnvironmentId } from './supervised-app.ts'
import { readSecrets } from './variables.ts'
import type { DeploymentContext } from './context.ts'

export interface DeploymentQueue {
  /** Claims deployments that can run now; called when one was queued or ended, or when a runtime came back. */
  notify(): void
  /** Stops a deployment that runs here; resolves when its work has ended. Returns false when it does not run here. */
  stopDeployment(deploymentId: string, reason: StopReason): Promise<boolean>
  /** Accepts no more deployments and requeues running ones, which start again with the next run. */
  close(): Promise<void>
}

interface Job {
  controller: AbortController
  done: Promise<void>
  /** Rejects when a full disk prevents storing the outcome, so that callers stop waiting. */
  blocked: PromiseWithResolvers<never>
}

const engineRetry_ms = 2_000
const fullDiskRetry_ms = 1_000

/**
 * Claims the oldest queued deployment by compare-and-swap and runs it, several at once within the limits. `runtimes` are those that may build now.
 */
export function createDeploymentQueue(context: DeploymentContext, supervisor: Supervisor, runtimes: () => readonly RuntimeName[]): DeploymentQueue {
  const jobs = new Map<string, Job>()
  const closing = new AbortController()
  let isClosed = false
  let isClaiming = false
  let isNotifiedAgain = false
  let retry: Timer | undefined

  const claimQueued = async (): Promise<void> => {
    const available = await findAvailableRuntimes()
    for (;;) {
      if (isClosed) return
      const now = context.clock.now()
      const row = await context.store.db.write((tx) => {
        const claimed = claimOldestQueued(
          tx,
          {
            total: context.settings().build_concurrency ?? Math.max(2, context.cpus),
            perAccount: (account) => context.getPlanLimits(tx, account).concurrent_builds,
            runtimes: available,
          },
          (candidate) => ({
            started_at: isoTime(now),
            queued_ms: Math.max(0, now - Date.parse(candidate.created_at)),
            attempt: candidate.attempt + 1,
          }),
        )
        if (claimed && claimed.attempt > 1) resetSteps(tx, claimed.id)
        if (claimed) publishChange(tx, claimed.project_id, claimed.id)
        return claimed
      })
      if (!row) return
      startJob(row)
    }
  }

  /** Deployments stay queued while Docker is not available; the runtime is probed as long as there are any. */
  const findAvailableRuntimes = async (): Promise<RuntimeName[]> => {
    const queued = new Set(await context.store.db.read(listQueuedRuntimes))
    const probes = await Promise.all(
      runtimes()
        .filter((name) => queued.has(name))
        .map(async (name) => ({ name, available: (await context.runtime(name).probe()).available })),
    )
    retry?.cancel()
    if (probes.some((probe) => !probe.available) && !isClosed) retry = context.clock.setTimeout(notify, engineRetry_ms)
    return probes.filter((probe) => probe.available).map((probe) => probe.name)
  }

  const notify = () => {
    if (isClosed) return
    if (isClaiming) {
      isNotifiedAgain = true
      return
    }
    isClaiming = true
    void claimQueued()
      .catch((error: unknown) => {
        context.log.error('claim_failed', { error })
        retry = context.clock.setTimeout(notify, engineRetry_ms)
      })
      .finally(() => {
        isClaiming = false
        if (isNotifiedAgain) {
          isNotifiedAgain = false
          notify()
        }
      })
  }

  const startJob = (row: DeploymentRow) => {
    const controller = new AbortController()
    const timer = context.clock.setTimeout(() => controller.abort('timeout' satisfies StopReason), context.settings().build_timeout_s * 1000)
    const done = runJob(row, controller.signal).finally(() => {
      timer.cancel()
      jobs.delete(row.id)
      notify()
    })
    const blocked = Promise.withResolvers<never>()
    blocked.promise.catch(() => {})
    jobs.set(row.id, { controller, done, blocked })
  }

  const runJob = async (deployment: DeploymentRow, signal: AbortSignal): Promise<void> => {
    let run: DeploymentRun | undefined
    const log = createDeploymentLog({ ...context, logs: context.store.logs, db: context.store.db, stream: deployment.id })
    try {
      const project = await context.store.db.read((tx) => findProject(tx, deployment.project_id))
      if (!project) throw new Error('The project was removed.')
      if (deployment.attempt > 1) log.note('Homeport was restarted. Starting this deployment again.')
      await waitForData(deployment, signal)
      if (deployment.target === 'preview') await ensureDatabase(deployment, signal, log)
      const secrets = await readSecrets(context, project, deployment)
      log.setMask(secrets.mask)
      for (const note of secrets.notes) log.note(note)
      run = { context, supervisor, deployment, project, secrets, log, signal }
      await runDeployment(run)
      await pruneProject(context, project.id).catch((error: unknown) => context.log.warn('deployment_prune_failed', { project: project.id, error }))
    } catch (error) {
      await finishJob(deployment, log, signal, error, run?.secrets.mask ?? noMask).catch((cause: unknown) =>
        context.log.error('deployment_finish_failed', { deployment: deployment.id, error: cause }),
      )
    }
  }

  /** Work on the data of the environment may be running. */
  const waitForData = async (deployment: DeploymentRow, signal: AbortSignal): Promise<void> => {
    const change = context.dataChanges.get(getEnvironmentId(deployment))
    if (!change) return
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      void change.then(resolve)
    })
  }

  /** Before the first start of the app, which may need the database. */
  const ensureDatabase = async (deployment: DeploymentRow, signal: AbortSignal, log: DeploymentLog): Promise<void> => {
    const { project_id, branch } = deployment
    const hasDatabase = await context.store.db.read((tx) => findWatch(tx, project_id).preview_databases === 1 && !isRestricted(tx, deployment))
    if (!hasDatabase || branch === null) return
    if (await context.databases.copyForPreview(project_id, branch, signal))
      log.note('This preview has its own database, copied from the project’s database when the preview was created.')
  }

  const finishJob = async (deployment: DeploymentRow, log: DeploymentLog, signal: AbortSignal, error: unknown, mask: SecretMask): Promise<void> => {
    const reason = signal.aborted ? (signal.reason as StopReason) : undefined
    if (reason === 'requeued') {
      await log.end('canceled')
      await context.store.db.write((tx) => {
        if (
          compareAndSwapStatus(tx, deployment.id, ['building', 'deploying'], 'queued', {
            attempt: deployment.attempt - 1,
            started_at: null,
            artifact: null,
          })
        )
          resetSteps(tx, deployment.id)
      })
    } else if (reason === 'canceled') {
      log.note('Canceled.')
      await log.end('canceled')
      await saveOutcome(deployment, () => endDeployment(context, deployment.id, 'canceled', null))
    } else {
      await log.end('failed')
      const seconds = context.settings().build_timeout_s
      const failure =
        reason === 'timeout'
          ? {
              code: 'timeout' as const,
              message: `The deployment took longer than ${seconds} s (step: ${log.step}).`,
              hint: 'Make the build faster, or raise build_timeout_s in the settings.',
            }
          : maskFailure(await describeFailure(context, error, deployment, log.step, log.hasLostLines()), mask)
      log.note(failure.message)
      // The other lines of the hint are already in the log.
      log.note(failure.hint.split('\n')[0] ?? '')
      await log.end('failed')
      await saveOutcome(deployment, () => endDeployment(context, deployment.id, 'failed', failure))
    }
    await discardAttempt(deployment).catch(() =>
      context.scheduleCleanup({ kind: 'attempt', deployment_id: deployment.id, runtime: deployment.runtime }),
    )
  }

  const discardAttempt = (deployment: DeploymentRow) => context.runtime(deployment.runtime).discard(deployment.id, null)

  /** Stores the outcome. When the disk is full, the outcome is stored later, and the deployment no longer counts as running. */
  const saveOutcome = async (deployment: DeploymentRow, write: () => Promise<unknown>): Promise<void> => {
    for (let tries = 0; ; tries++) {
      try {
        await write()
        return
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'storage_full') throw error
        if (tries === 0) {
          context.log.error('deployment_waiting_for_disk_space', { deployment: deployment.id, error })
          // The attempt's own files may be what fills the disk.
          await discardAttempt(deployment).catch(() => {})
          continue
        }
        jobs.get(deployment.id)?.blocked.reject(error)
        if (!(await context.pause(fullDiskRetry_ms, closing.signal))) throw error
      }
    }
  }

  return {
    notify,
    async stopDeployment(deploymentId, reason) {
      const job = jobs.get(deploymentId)
      if (!job) return false
      job.controller.abort(reason)
      await Promise.race([job.done, job.blocked.promise])
      return true
    },
    async close() {
      isClosed = true
      closing.abort()
      retry?.cancel()
      for (const job of jobs.values()) job.controller.abort('requeued' satisfies StopReason)
      await Promise.allSettled([...jobs.values()].map((job) => job.done))
    },
  }
}
