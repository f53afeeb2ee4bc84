import { isoTime } from '../lib/clock.ts'
import { closeSteps, findLatestOf, insertCleanup, listOfPreview, swapStatus, updateDeployment } from '../store/deployments.ts'
import type { Tx } from '../store/open.ts'
import { findPreview, readWatch, removePreview } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { Cleanup } from './reaper.ts'
import { isTerminal } from './states.ts'

/** A commit that a look has found on a branch. */
export interface Push {
  project_id: string
  /** Where it was found: nothing is deployed when the project has moved on meanwhile. */
  url: string
  branch: string
  commit_sha: string
}

/** What becomes of it. `wait`: a deployment is under way that may be of this very commit; it will be known by its end. */
export type Reception = { kind: 'deploy' } | { kind: 'done' } | { kind: 'moved' } | { kind: 'wait'; deployment_id: string }

/** Whether a commit is still to be deployed. A deployment by hand may have been quicker. */
export function receive(tx: Tx, { project_id, url, branch, commit_sha }: Push): Reception {
  const project = findProject(tx, project_id)
  if (!project || project.repo_url !== url || project.stopped_at !== null) return { kind: 'moved' }
  const watch = readWatch(tx, project_id)
  const target = branch === project.repo_branch ? 'production' : 'preview'
  if (target === 'production' ? watch.deploys_pushes === 0 : watch.previews === 0) return { kind: 'done' }
  const latest = findLatestOf(tx, project_id, target, branch)
  if (latest && !isTerminal(latest.status) && latest.commit_sha === null) return { kind: 'wait', deployment_id: latest.id }
  if (latest?.commit_sha !== commit_sha) return { kind: 'deploy' }
  if (target === 'production') return { kind: 'done' }
  const serves = latest.is_current === 1 || latest.status === 'failed' || !isTerminal(latest.status)
  return { kind: serves && findPreview(tx, project_id, branch) !== undefined ? 'done' : 'deploy' }
}

/** Takes a preview out of the rows; what is left of it goes by the clean-up. Undefined: there is none. */
export function closeRows(
  tx: Tx,
  projectId: string,
  branch: string,
  now: number,
): { closed: string[]; cleanup: Extract<Cleanup, { kind: 'preview' }> } | undefined {
  const preview = findPreview(tx, projectId, branch)
  if (!preview) return undefined
  const rows = listOfPreview(tx, projectId, branch)
  const closed: string[] = []
  for (const row of rows) {
    if (isTerminal(row.status) && row.is_current === 0) continue
    closed.push(row.id)
    updateDeployment(tx, row.id, { is_current: 0 })
    // One that runs is ended by its worker, which knows what is to be undone.
    if (row.status === 'queued' && swapStatus(tx, row.id, ['queued'], 'canceled', { finished_at: isoTime(now) }))
      closeSteps(tx, row.id, 'canceled', isoTime(now))
  }
  removePreview(tx, projectId, branch)
  const cleanup = { kind: 'preview', project_id: projectId, branch, host: preview.host, up_to: rows[0]?.seq ?? 0 } as const
  insertCleanup(tx, cleanup, isoTime(now))
  return { closed, cleanup }
}
