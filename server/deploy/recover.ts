import type { Failure, RuntimeName } from '../contract/deployments.ts'
import { isoTime } from '../lib/clock.ts'
import type { Artifact, FoundInstance } from '../runtime/runtime.ts'
import { closeSteps, insertCleanup, listCurrent, listInterrupted, swapStatus } from '../store/deployments.ts'
import { findPreview } from '../store/previews.ts'
import { findProject, settleProjectStatus } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import { logOf } from './app.ts'
import type { Apps } from './apps.ts'
import type { Cleanup } from './reaper.ts'
import { specOf } from './run.ts'
import { readSecrets } from './variables.ts'
import type { YardDeps } from './yard.ts'

/** A second interruption of the same deployment fails it: something about it may be what ends the platform. */
const attempts = 2

/**
 * After a restart: what was under way is queued again or failed with `interrupted`. The rows are settled first and at once;
 * what is left of the attempts goes by `clearAttempts`, when their runtime can be asked.
 */
export async function recoverQueue(deps: YardDeps): Promise<void> {
  const now = isoTime(deps.clock.now())
  const error: Failure = {
    code: 'interrupted',
    message: 'Homeport ended while this deployment was running, twice.',
    hint: 'Deploy again. If Homeport ends by itself each time, homeport doctor says more.',
  }
  const interrupted = await deps.store.db.read(listInterrupted)
  // One that was about to get the traffic may have had it for a moment: what it answered then is not to outlive it.
  for (const row of interrupted) {
    if (row.status !== 'deploying') continue
    const preview = await deps.store.db.read((tx) => findPreview(tx, row.project_id, row.branch ?? ''))
    // What a closed preview has answered goes with the rest of it.
    if (row.target === 'production' || preview) await deps.purgeOnSwap(row.project_id, row.target === 'production' ? undefined : preview?.host)
  }
  await deps.store.db.write((tx) => {
    for (const row of listInterrupted(tx)) {
      const isClosed = row.target === 'preview' && !findPreview(tx, row.project_id, row.branch ?? '')
      insertCleanup(tx, { kind: 'attempt', deployment_id: row.id, runtime: row.runtime } satisfies Cleanup, now)
      if (isClosed) {
        swapStatus(tx, row.id, [row.status], 'canceled', { finished_at: now, artifact: null })
        closeSteps(tx, row.id, 'canceled', now)
      } else if (row.attempt >= attempts) {
        swapStatus(tx, row.id, [row.status], 'failed', { finished_at: now, error: JSON.stringify(error), artifact: null })
        closeSteps(tx, row.id, 'failed', now)
      } else swapStatus(tx, row.id, [row.status], 'queued', { started_at: null, artifact: null })
      settleProjectStatus(tx, row.project_id, now)
    }
  })
}

/** Brings every app that should serve on this runtime back, and removes every instance that should not be there. May be called again. */
export async function recoverApps(deps: YardDeps, apps: Apps, runtime: RuntimeName): Promise<void> {
  const driver = deps.runtime(runtime)
  const current = (await deps.store.db.read((tx) => listCurrent(tx))).filter((row) => row.runtime === runtime)
  const found = await driver.list()
  const taken = new Set<string>()
  for (const row of current) {
    // A second look, after the engine went away in the middle of the first.
    if (apps.has(row.id)) {
      for (const one of found) if (one.deployment_id === row.id) taken.add(one.id)
      continue
    }
    try {
      const instance = found.find((one) => one.deployment_id === row.id && one.running && one.adoptable)
      if (await bringBack(deps, apps, row, instance)) taken.add(instance?.id ?? '')
    } catch (error) {
      deps.log.error('app_not_recovered', { deployment: row.id, error })
    }
  }
  for (const one of found) {
    if (taken.has(one.id)) continue
    await driver.stop(one.id, 0).catch((error: unknown) => deps.log.warn('leftover_not_removed', { instance: one.id, error }))
  }
}

async function bringBack(deps: YardDeps, apps: Apps, deployment: DeploymentRow, found: FoundInstance | undefined): Promise<boolean> {
  const project = await deps.store.db.read((tx) => findProject(tx, deployment.project_id))
  const isPreview = deployment.target === 'preview'
  if (!project || deployment.artifact === null || (project.stopped_at !== null && !isPreview)) return false
  const preview = isPreview ? await deps.store.db.read((tx) => findPreview(tx, project.id, deployment.branch ?? '')) : undefined
  if (isPreview && !preview) return false
  const secrets = await readSecrets(deps, project, deployment)
  const artifact = JSON.parse(deployment.artifact) as Artifact
  const spec = specOf({ deps, deployment, project, secrets }, artifact)
  if (found && (await apps.adopt(spec, { ...found, last_line_at: lastLineAt(deps, deployment), listen_port: deployment.listen_port }))) return true
  apps.revive(spec, (preview ?? project).is_cold === 1 && !spec.always_warm && artifact.kind !== 'static')
  return false
}

/** When the last line of this deployment's app was stored: what it printed after that is still to be read. */
function lastLineAt(deps: YardDeps, deployment: DeploymentRow): number | null {
  const records = deps.store.logs.tail(logOf(deployment), 1).flatMap((chunk) => chunk.body.split('\n'))
  for (const record of records.reverse()) {
    const value = JSON.parse(record) as { seq?: number; ts: string; deployment_id: string | null }
    if (value.seq !== undefined && value.deployment_id === deployment.id) return Date.parse(value.ts)
  }
  return null
}
