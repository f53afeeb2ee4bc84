import type { RuntimeName } from '../contract/runtimes.ts'
import { Problem } from '../contract/errors.ts'
import { compareAndSwapStatus, finishSteps, insertDeployment, listQueuedInSlot } from '../store/deployments.ts'
import { deleteSkippedPushes, upsertPreview } from '../store/previews.ts'
import { findProject, recomputeProjectStatus, updateProject } from '../store/projects.ts'
import type { Tx } from '../store/store.ts'
import { createDeploymentRow, type EnqueueRequest, readSource } from './deployment-row.ts'
import { requireIsolation } from './isolation.ts'
import { publishQueued } from './outcome.ts'
import { steps } from './pipeline.ts'

/** Inserts the row of a new deployment; a queued deployment for the same target is replaced. */
export function insertQueuedDeployment(tx: Tx, request: EnqueueRequest, defaults: { id: string; runtime: RuntimeName; now: string }) {
  const { now } = defaults
  const project = findProject(tx, request.project_id)
  if (!project) throw new Problem('project_not_found', 'The project was deleted in the meantime.')
  const deployment = createDeploymentRow(tx, project, request, defaults)
  requireIsolation(tx, project, deployment.runtime, readSource(deployment))
  for (const older of listQueuedInSlot(tx, deployment)) {
    compareAndSwapStatus(tx, older.id, ['queued'], 'canceled', { finished_at: now })
    finishSteps(tx, older.id, 'canceled', now)
  }
  insertDeployment(
    tx,
    deployment,
    steps.map(({ name }) => name),
  )
  if (deployment.source === 'git' && deployment.branch !== null) deleteSkippedPushes(tx, project.id, deployment.branch)
  // Uses the creation time of the deployment, which the preview stores as its last push.
  if (deployment.target === 'preview') upsertPreview(tx, project, deployment.branch ?? '', deployment.created_at)
  else updateProject(tx, project.id, { stopped_at: null })
  recomputeProjectStatus(tx, project.id, now)
  publishQueued(tx, now, deployment)
  return deployment
}
