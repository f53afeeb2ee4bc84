import { isoTime } from '../lib/clock.ts'
import { isOfPullRequest } from '../lib/pull-request.ts'
import { recordProjectActivity } from '../store/activity.ts'
import {
  finishSteps,
  findLatestBranchDeployment,
  insertCleanup,
  listPreviewDeployments,
  compareAndSwapStatus,
  updateDeployment,
} from '../store/deployments.ts'
import { deleteFork } from '../store/forks.ts'
import type { Tx } from '../store/store.ts'
import { findPreview, findWatch, deletePreview } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { CleanupTask } from './cleanup-task.ts'
import { isTerminal } from './status-transitions.ts'

/** A commit that a check found on a branch. */
export interface BranchPush {
  project_id: string
  /** The address of the repository; nothing is deployed when the project has changed its repository since. */
  url: string
  branch: string
  commit_sha: string
}

/** The decision about a commit. `wait`: a running deployment may be of this commit; this is known when it ends. */
export type PushDecision = { kind: 'deploy' } | { kind: 'done' } | { kind: 'outdated' } | { kind: 'wait'; deployment_id: string }

/** Whether a commit must still be deployed, because a manual deployment may have deployed it already. */
export function decidePush(tx: Tx, { project_id, url, branch, commit_sha }: BranchPush): PushDecision {
  const project = findProject(tx, project_id)
  if (!project || project.repo_url !== url || project.stopped_at !== null) return { kind: 'outdated' }
  const watch = findWatch(tx, project_id)
  const target = branch === project.repo_branch ? 'production' : 'preview'
  const ofPreviews = isOfPullRequest({ target, branch }) ? watch.pull_requests : watch.previews
  if ((target === 'production' ? watch.deploys_pushes : ofPreviews) === 0) return { kind: 'done' }
  const latest = findLatestBranchDeployment(tx, project_id, target, branch)
  if (latest && !isTerminal(latest.status) && latest.commit_sha === null) return { kind: 'wait', deployment_id: latest.id }
  if (latest?.commit_sha !== commit_sha) return { kind: 'deploy' }
  if (target === 'production') return { kind: 'done' }
  const isServed = latest.is_current === 1 || latest.status === 'failed' || !isTerminal(latest.status)
  return { kind: isServed && findPreview(tx, project_id, branch) !== undefined ? 'done' : 'deploy' }
}

/** Removes the rows of a preview; the clean-up removes its resources. Undefined when there is no preview. */
export function closePreviewRows(
  tx: Tx,
  projectId: string,
  branch: string,
  now: number,
): { closed: string[]; cleanup: Extract<CleanupTask, { kind: 'preview' }> } | undefined {
  const preview = findPreview(tx, projectId, branch)
  if (!preview) return undefined
  const rows = listPreviewDeployments(tx, projectId, branch)
  const closedIds: string[] = []
  for (const row of rows) {
    if (isTerminal(row.status) && row.is_current === 0) continue
    closedIds.push(row.id)
    tx.publish({ type: 'deployment_changed', id: row.id })
    updateDeployment(tx, row.id, { is_current: 0 })
    // A running deployment is ended by its worker, which also undoes its effects.
    if (row.status === 'queued' && compareAndSwapStatus(tx, row.id, ['queued'], 'canceled', { finished_at: isoTime(now) }))
      finishSteps(tx, row.id, 'canceled', isoTime(now))
  }
  const project = findProject(tx, projectId)
  if (project)
    recordProjectActivity(tx, isoTime(now), project, {
      action: 'preview.closed',
      actor_kind: 'schedule',
      target_name: branch,
      details: { branch },
      is_outcome: 1,
    })
  deletePreview(tx, projectId, branch)
  deleteFork(tx, projectId, branch)
  tx.publish({ type: 'project_changed', id: projectId })
  const cleanup = { kind: 'preview', project_id: projectId, branch, host: preview.host, up_to: rows[0]?.seq ?? 0 } as const
  insertCleanup(tx, cleanup, isoTime(now))
  return { closed: closedIds, cleanup }
}
