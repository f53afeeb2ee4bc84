import type { StepLog } from '../../contract/build-log.ts'
import { isoTime } from '../../lib/clock.ts'
import { compareAndSwapStatus, findCurrentDeployment, findDeploymentById, updateDeployment } from '../../store/deployments.ts'
import { findPreview, updatePreview } from '../../store/previews.ts'
import { recomputeProjectStatus, updateProject } from '../../store/projects.ts'
import type { DeploymentRow } from '../../store/tables.ts'
import { type DeploymentRun, resultOf } from '../deployment-run.ts'
import { toProjectColumns } from '../app-spec.ts'
import { keepNewVolumes } from '../new-volumes.ts'
import { publishChange, recordDeployment } from '../outcome.ts'
import type { Candidate } from '../supervised-app.ts'
import type { Version } from '../version.ts'

/** Switches the traffic to the new version and records it as live. The previous version is retired in the background. */
export async function route(run: DeploymentRun, log: StepLog): Promise<void> {
  const { context, deployment, project } = run
  const candidate = resultOf(run, 'candidate')
  const host = context.routes.getHost(deployment)
  const purge = () => context.purgeEdgeCache(project.id, deployment.target === 'preview' ? host : undefined)
  const promotion = run.supervisor.promote(candidate)
  let replaced: DeploymentRow | undefined
  try {
    // After the switch of traffic: responses of the previous version that are still in progress started earlier and are not stored.
    await purge()
    log.note(`Live at ${context.urlOf(host)}`)
    await run.log.end('done')
    replaced = await recordLive(run, context.urlOf(host), candidate, resultOf(run, 'version').settings)
  } catch (error) {
    await promotion.revert()
    // Removes the candidate's cached responses, because the previous version gets the traffic back.
    await purge()
    throw error
  }
  await keepNewVolumes(run, candidate.spec).catch((error: unknown) =>
    context.log.warn('volume_marker_removal_failed', { deployment: deployment.id, error }),
  )
  // Draining takes up to ten seconds, so the deployment does not wait for it.
  context.jobs.start('retire', { deployment: replaced?.id ?? null }, () => promotion.commit())
}

/** Marks the deployment as ready and current, in one transaction; returns the deployment that it replaces. */
async function recordLive(
  { context, deployment, project }: DeploymentRun,
  url: string,
  { spec, replica }: Candidate,
  settings: Version['settings'],
): Promise<DeploymentRow | undefined> {
  const now = context.clock.now()
  const startedAt = Date.parse(deployment.started_at ?? deployment.created_at)
  const isPreview = deployment.target === 'preview'
  return context.store.db.write((tx) => {
    const previous = findCurrentDeployment(tx, project.id, deployment.target, deployment.branch)
    if (previous) updateDeployment(tx, previous.id, { is_current: 0 })
    if (isPreview && !findPreview(tx, project.id, deployment.branch ?? '')) throw new Error('The preview was closed.')
    const row = findDeploymentById(tx, deployment.id)
    const isReady = compareAndSwapStatus(tx, deployment.id, ['deploying'], 'ready', {
      is_current: 1,
      url,
      finished_at: isoTime(now),
      deploy_ms: Math.max(0, now - startedAt - (row?.build_ms ?? 0)),
    })
    if (!isReady) throw new Error('The deployment has already ended.')
    if (isPreview) updatePreview(tx, project.id, deployment.branch ?? '', { is_cold: 0, updated_at: isoTime(now) })
    else
      updateProject(tx, project.id, {
        port: replica?.port ?? null,
        crashed_at: null,
        stopped_at: null,
        is_cold: 0,
        ...toProjectColumns(settings),
        // From here on, autoscaling changes the number with which the version has started.
        ...(spec.autoscaling && { replicas: spec.replicas }),
      })
    recomputeProjectStatus(tx, project.id, isoTime(now))
    if (row) recordDeployment(tx, isoTime(now), row, 'ready')
    publishChange(tx, project.id, deployment.id)
    if (previous) tx.publish({ type: 'deployment_changed', id: previous.id })
    return previous
  })
}
