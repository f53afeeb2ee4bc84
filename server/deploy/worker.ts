import { isoTime, type Timer } from '../lib/clock.ts'
import type { RuntimeName } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import { claimOldestQueued, resetSteps, swapStatus } from '../store/deployments.ts'
import { readWatch } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { Apps } from './apps.ts'
import { createBuildLog, type DeploymentLog } from './build-log.ts'
import { announce, describeFailure, endDeployment, masked, type StopReason } from './job.ts'
import { type Mask, noMask } from './mask.ts'
import { prune } from './reaper.ts'
import { runDeployment } from './run.ts'
import { readSecrets } from './variables.ts'
import type { YardDeps } from './yard.ts'
import type { StepName } from '../contract/deployments.ts'

export interface Worker {
  /** Something was queued, ended or came back: claim what may run now. */
  ring(): void
  /** Stops a deployment that is in progress here; resolves when nothing of it is left. False: it is not. */
  stop(deploymentId: string, reason: StopReason): Promise<boolean>
  /** Takes nothing more and parks what is running: it is begun again at the next start. */
  close(): Promise<void>
}

interface Job {
  controller: AbortController
  done: Promise<void>
  /** Told when a full disk does not take its end: whoever waits for that waits no longer. */
  stuck: PromiseWithResolvers<never>
}

const engineRetry_ms = 2_000
const fullRetry_ms = 1_000

/**
 * Claims the oldest queued deployment by compare-and-swap and runs it; as many at once as the limits allow. `runtimes` are those
 * that may build by now.
 */
export function createWorker(deps: YardDeps, apps: Apps, runtimes: () => readonly RuntimeName[]): Worker {
  const jobs = new Map<string, Job>()
  const ending = new AbortController()
  let closed = false
  let claiming = false
  let rungAgain = false
  let retry: Timer | undefined

  const claim = async (): Promise<void> => {
    const available = await availableRuntimes()
    for (;;) {
      if (closed) return
      const now = deps.clock.now()
      const row = await deps.store.db.write((tx) => {
        const claimed = claimOldestQueued(
          tx,
          {
            overall: deps.settings().build_concurrency ?? Math.max(2, deps.cpus),
            perAccount: (account) => deps.planOf(tx, account).concurrent_builds,
            runtimes: available,
          },
          (candidate) => ({
            started_at: isoTime(now),
            queued_ms: Math.max(0, now - Date.parse(candidate.created_at)),
            attempt: candidate.attempt + 1,
          }),
        )
        if (claimed && claimed.attempt > 1) resetSteps(tx, claimed.id)
        return claimed
      })
      if (!row) return
      announce(deps, row.project_id, row.id)
      begin(row)
    }
  }

  /** An engine that is away leaves its deployments queued; it is asked again while there are any. */
  const availableRuntimes = async (): Promise<RuntimeName[]> => {
    const queued = new Set(
      (await deps.store.db.read((tx) => tx.sqlAll<{ runtime: RuntimeName }>("SELECT DISTINCT runtime FROM deployments WHERE status = 'queued'"))).map(
        (row) => row.runtime,
      ),
    )
    const answers = await Promise.all(
      runtimes()
        .filter((name) => queued.has(name))
        .map(async (name) => ({ name, available: (await deps.runtime(name).probe()).available })),
    )
    retry?.cancel()
    if (answers.some((answer) => !answer.available) && !closed) retry = deps.clock.setTimeout(ring, engineRetry_ms)
    return answers.filter((answer) => answer.available).map((answer) => answer.name)
  }

  const ring = () => {
    if (closed) return
    if (claiming) {
      rungAgain = true
      return
    }
    claiming = true
    void claim()
      .catch((error: unknown) => {
        deps.log.error('claim_failed', { error })
        retry = deps.clock.setTimeout(ring, engineRetry_ms)
      })
      .finally(() => {
        claiming = false
        if (rungAgain) {
          rungAgain = false
          ring()
        }
      })
  }

  const begin = (row: DeploymentRow) => {
    const controller = new AbortController()
    const timer = deps.clock.setTimeout(() => controller.abort('timeout' satisfies StopReason), deps.settings().build_timeout_s * 1000)
    const done = work(row, controller.signal).finally(() => {
      timer.cancel()
      jobs.delete(row.id)
      ring()
    })
    const stuck = Promise.withResolvers<never>()
    stuck.promise.catch(() => {})
    jobs.set(row.id, { controller, done, stuck })
  }

  const work = async (deployment: DeploymentRow, signal: AbortSignal): Promise<void> => {
    let at: StepName = 'clone'
    let mask = noMask
    const plain = createBuildLog({ ...deps, logs: deps.store.logs, db: deps.store.db, stream: deployment.id })
    const log: DeploymentLog = {
      ...plain,
      step: (name) => {
        at = name
        plain.step(name)
      },
    }
    try {
      const project = await deps.store.db.read((tx) => findProject(tx, deployment.project_id))
      if (!project) throw new Error('The project was removed.')
      if (deployment.attempt > 1) log.note('clone', 'Homeport was restarted: this deployment begins again.')
      if (deployment.target === 'preview') await ensureDatabase(deployment, signal, log)
      const secrets = await readSecrets(deps, project, deployment)
      mask = secrets.mask
      log.maskWith(mask)
      for (const note of secrets.notes) log.note('clone', note)
      await runDeployment({ deps, apps, deployment, project, secrets, log, signal })
      await prune(deps, project.id).catch((error: unknown) => deps.log.warn('old_deployments_not_pruned', { project: project.id, error }))
    } catch (error) {
      await conclude(deployment, at, log, signal, error, mask).catch((cause: unknown) =>
        deps.log.error('deployment_not_concluded', { deployment: deployment.id, error: cause }),
      )
    }
  }

  /** Before its first app looks for it. */
  const ensureDatabase = async ({ project_id, branch }: DeploymentRow, signal: AbortSignal, log: DeploymentLog): Promise<void> => {
    const watch = await deps.store.db.read((tx) => readWatch(tx, project_id))
    if (watch.preview_databases === 0 || branch === null) return
    if (await deps.databases.copyForPreview(project_id, branch, signal))
      log.note('clone', 'This preview has a database of its own, copied from the project’s when the preview was made.')
  }

  const conclude = async (
    deployment: DeploymentRow,
    step: StepName,
    log: DeploymentLog,
    signal: AbortSignal,
    error: unknown,
    mask: Mask,
  ): Promise<void> => {
    const reason = signal.aborted ? (signal.reason as StopReason) : undefined
    if (reason === 'parked') {
      await log.end('canceled')
      await deps.store.db.write((tx) => {
        if (swapStatus(tx, deployment.id, ['building', 'deploying'], 'queued', { attempt: deployment.attempt - 1, started_at: null, artifact: null }))
          resetSteps(tx, deployment.id)
      })
    } else if (reason === 'canceled') {
      log.note(step, 'Canceled.')
      await log.end('canceled')
      await settle(deployment, () => endDeployment(deps, deployment.id, 'canceled', null))
    } else {
      await log.end('failed')
      const seconds = deps.settings().build_timeout_s
      const failure =
        reason === 'timeout'
          ? {
              code: 'timeout' as const,
              message: `The deployment took longer than ${seconds} s, in the step ${step}.`,
              hint: 'Make it quicker, or raise the setting build_timeout_s.',
            }
          : masked(describeFailure(deps, error, deployment, step, log.metFullDisk()), mask)
      log.note(step, failure.message)
      // The lines below the first are in the log as they were printed.
      log.note(step, failure.hint.split('\n')[0] ?? '')
      await log.end('failed')
      await settle(deployment, () => endDeployment(deps, deployment.id, 'failed', failure))
    }
    await clear(deployment).catch(() => deps.cleanLater({ kind: 'attempt', deployment_id: deployment.id, runtime: deployment.runtime }))
  }

  const clear = (deployment: DeploymentRow) => deps.runtime(deployment.runtime).discard(deployment.id, null)

  /** Writes down how it ended. A full disk may take that only later: it does not look as if it went on for ever. */
  const settle = async (deployment: DeploymentRow, write: () => Promise<unknown>): Promise<void> => {
    for (let tries = 0; ; tries++) {
      try {
        await write()
        return
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'storage_full') throw error
        if (tries === 0) {
          deps.log.error('deployment_waits_for_room', { deployment: deployment.id, error })
          // What it leaves may be all the room that is needed.
          await clear(deployment).catch(() => {})
          continue
        }
        jobs.get(deployment.id)?.stuck.reject(error)
        if (!(await deps.pause(fullRetry_ms, ending.signal))) throw error
      }
    }
  }

  return {
    ring,
    async stop(deploymentId, reason) {
      const job = jobs.get(deploymentId)
      if (!job) return false
      job.controller.abort(reason)
      await Promise.race([job.done, job.stuck.promise])
      return true
    },
    async close() {
      closed = true
      ending.abort()
      retry?.cancel()
      for (const job of jobs.values()) job.controller.abort('parked' satisfies StopReason)
      await Promise.allSettled([...jobs.values()].map((job) => job.done))
    },
  }
}
