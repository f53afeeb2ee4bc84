import { Problem } from '../contract/errors.ts'
import type { Preview, SkippedPush, Watching } from '../contract/previews.ts'
import { linkedRepository } from '../deployments/service.ts'
import { type PreviewSummaryRow, findSkippedPush, findWatch, listPreviewSummaries, listSkippedPushes, updateWatch } from '../store/previews.ts'
import type { ProjectRow, SkippedPushRow, WatchRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { enqueueDeployment } from './enqueue.ts'
import * as preconditions from './preconditions.ts'

type PreviewHandlers = Pick<OperationHandlers, 'listPreviews' | 'getWatching' | 'updateWatching' | 'checkRepository' | 'deploySkippedPush'>

export function createPreviewHandlers(deps: FeatureDeps): PreviewHandlers {
  const { db } = deps.store
  const readWatching = (project: ProjectRow) =>
    db.read((tx) => ({ watching: presentWatching(project, findWatch(tx, project.id), listSkippedPushes(tx, project.id)) }))

  return {
    async listPreviews({ project }) {
      const rows = await db.read((tx) => listPreviewSummaries(tx, project.id))
      return { previews: rows.map((row) => presentPreview(row, deps.urlOf(row.host))) }
    },

    async getWatching({ project }) {
      return readWatching(project)
    },

    async updateWatching({ project }, { body }) {
      const toFlag = (value: boolean | undefined) => (value === undefined ? undefined : value ? 1 : 0)
      await db.write((tx) => {
        const change = {
          deploys_pushes: toFlag(body.deploys_pushes),
          previews: toFlag(body.previews),
          preview_databases: toFlag(body.preview_databases),
          pull_requests: toFlag(body.pull_requests),
          pull_request_secrets: toFlag(body.pull_request_secrets),
          // Branches that exist at the next check get a preview with their next commit.
          ...(body.pull_requests === false ? { knows_pull_requests: 0 as const } : {}),
        } as const
        if (body.pull_requests === true) deps.deployments.requireIsolation(tx, project)
        updateWatch(tx, project.id, Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)))
        tx.publish({ type: 'project_changed', id: project.id })
      })
      await deps.watcher.syncProject(project.id)
      return readWatching(project)
    },

    async checkRepository({ project }) {
      preconditions.requireConnectedRepository(project.repo_url)
      await deps.watcher.check(project.id)
      return readWatching(project)
    },

    async deploySkippedPush(context, { body: { branch } }) {
      const { project } = context
      const push = await db.read((tx) => findSkippedPush(tx, project.id, branch))
      if (!push) throw new Problem('skipped_push_not_found', 'No push to this branch was skipped since its last deployment.')
      const source = linkedRepository(project, { branch, commit_sha: push.commit_sha })
      return enqueueDeployment(deps, context, { project_id: project.id, trigger: 'manual', source })
    },
  }
}

function presentPreview(row: PreviewSummaryRow, url: string): Preview {
  const { branch, host, status, deployment_id, commit_sha, commit_message, created_at, updated_at, last_request_at } = row
  return {
    branch,
    host,
    url: row.was_ready === 1 ? url : null,
    status,
    deployment_id,
    commit_sha,
    commit_message,
    is_cold: row.is_cold === 1,
    created_at,
    updated_at,
    last_request_at,
  }
}

/** A stopped project is not watched until its next deployment. */
function presentWatching(project: ProjectRow, row: WatchRow, skipped: readonly SkippedPushRow[]): Watching {
  const isOff = project.repo_url === null || project.stopped_at !== null || row.deploys_pushes + row.previews + row.pull_requests === 0
  const isKnown = !isOff && row.repo_url === project.repo_url
  return {
    deploys_pushes: row.deploys_pushes === 1,
    previews: row.previews === 1,
    preview_databases: row.preview_databases === 1,
    pull_requests: row.pull_requests === 1,
    pull_request_secrets: row.pull_request_secrets === 1,
    state: isOff ? 'off' : row.message === null ? 'watching' : 'failing',
    message: isOff ? null : row.message,
    checked_at: isKnown ? row.checked_at : null,
    skipped: isKnown ? skipped.map(presentSkippedPush) : [],
  }
}

const presentSkippedPush = ({ branch, commit_sha, commit_message, changed_files, skipped_at }: SkippedPushRow): SkippedPush => ({
  branch,
  commit_sha,
  commit_message,
  changed_files,
  skipped_at,
})
