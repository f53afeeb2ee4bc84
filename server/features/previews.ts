import type { Handlers } from '../contract/index.ts'
import type { Preview, Watching } from '../contract/previews.ts'
import { type PreviewSummaryRow, listPreviewSummaries, findWatch, updateWatch } from '../store/previews.ts'
import type { ProjectRow, WatchRow } from '../store/tables.ts'
import { requireProject } from './access.ts'
import type { OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'

type PreviewHandlers = Pick<Handlers<OperationContext>, 'listPreviews' | 'getWatching' | 'updateWatching' | 'checkRepository'>

export function createPreviewHandlers(deps: FeatureDeps): PreviewHandlers {
  const { db } = deps.store
  const readWatching = (caller: OperationContext['caller'], slug: string) =>
    db.read((tx) => {
      const project = requireProject(tx, caller, slug)
      return { watching: presentWatching(project, findWatch(tx, project.id)) }
    })

  return {
    async listPreviews({ caller }, { params }) {
      const rows = await db.read((tx) => listPreviewSummaries(tx, requireProject(tx, caller, params.slug).id))
      const { port } = new URL(deps.instance().edge_url)
      return { previews: rows.map((row) => presentPreview(row, `http://${row.host}:${port}`)) }
    },

    async getWatching({ caller }, { params }) {
      return readWatching(caller, params.slug)
    },

    async updateWatching({ caller }, { params, body }) {
      const toFlag = (value: boolean | undefined) => (value === undefined ? undefined : value ? 1 : 0)
      const project = await db.write((tx) => {
        const row = requireProject(tx, caller, params.slug)
        const change = {
          deploys_pushes: toFlag(body.deploys_pushes),
          previews: toFlag(body.previews),
          preview_databases: toFlag(body.preview_databases),
        } as const
        updateWatch(tx, row.id, Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)))
        tx.publish({ type: 'project_changed', id: row.id })
        return row
      })
      await deps.watcher.syncProject(project.id)
      return readWatching(caller, params.slug)
    },

    async checkRepository({ caller }, { params }) {
      const project = await db.read((tx) => requireProject(tx, caller, params.slug))
      preconditions.requireConnectedRepository(project.repo_url)
      await deps.watcher.check(project.id)
      return readWatching(caller, params.slug)
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
function presentWatching(project: ProjectRow, row: WatchRow): Watching {
  const isOff = project.repo_url === null || project.stopped_at !== null || (row.deploys_pushes === 0 && row.previews === 0)
  const isKnown = !isOff && row.repo_url === project.repo_url
  return {
    deploys_pushes: row.deploys_pushes === 1,
    previews: row.previews === 1,
    preview_databases: row.preview_databases === 1,
    state: isOff ? 'off' : row.message === null ? 'watching' : 'failing',
    message: isOff ? null : row.message,
    checked_at: isKnown ? row.checked_at : null,
  }
}
