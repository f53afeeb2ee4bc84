import { sql } from 'kysely'
import type { DeploymentStatus } from '../contract/deployments.ts'
import { createHostLabels } from '../lib/branch-label.ts'
import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { PreviewRow, SkippedPushRow, WatchRow } from './tables.ts'

const findWatchRow = first((projectId: string) => tables.selectFrom('watches').selectAll().where('project_id', '=', projectId))

/** The watch settings of a project, or the defaults. */
export const findWatch = (tx: Tx, projectId: string): WatchRow =>
  findWatchRow(tx, projectId) ?? {
    project_id: projectId,
    deploys_pushes: 1,
    previews: 1,
    preview_databases: 0,
    pull_requests: 0,
    pull_request_secrets: 0,
    knows_pull_requests: 0,
    has_merge_refs: 0,
    repo_url: null,
    checked_at: null,
    message: null,
  }

export function updateWatch(tx: Tx, projectId: string, change: Partial<Omit<WatchRow, 'project_id'>>): void {
  tx.run(tables.replaceInto('watches').values({ ...findWatch(tx, projectId), ...change }))
}

const listBranchHeads = all((projectId: string) => tables.selectFrom('branches').select(['branch', 'commit_sha']).where('project_id', '=', projectId))

/** The commit of each branch as of the last check. */
export const readBranchHeads = (tx: Tx, projectId: string): Map<string, string> =>
  new Map(listBranchHeads(tx, projectId).map((row) => [row.branch, row.commit_sha]))

export const upsertBranchHead = run((project_id: string, branch: string, commit_sha: string) =>
  tables.replaceInto('branches').values({ project_id, branch, commit_sha }),
)

/** Without `branch`: all branches of the project. */
export function deleteBranchHeads(tx: Tx, projectId: string, branch?: string): void {
  deleteSkippedPushes(tx, projectId, branch)
  const heads = tables.deleteFrom('branches').where('project_id', '=', projectId)
  tx.run(branch === undefined ? heads : heads.where('branch', '=', branch))
}

export const listSkippedPushes = all((projectId: string) =>
  tables.selectFrom('skipped_pushes').selectAll().where('project_id', '=', projectId).orderBy('skipped_at', 'desc').orderBy('branch'),
)

/** Branches whose last push was skipped because of a deployment that has failed since, so that its changes are not deployed. */
export const listOutdatedSkips = all((projectId: string) =>
  tables
    .selectFrom('skipped_pushes')
    .innerJoin('deployments', 'deployments.id', 'skipped_pushes.base_id')
    .select('skipped_pushes.branch')
    .where('skipped_pushes.project_id', '=', projectId)
    .where('deployments.status', '=', 'failed'),
)

export const findSkippedPush = first((projectId: string, branch: string) =>
  tables.selectFrom('skipped_pushes').selectAll().where('project_id', '=', projectId).where('branch', '=', branch),
)

export const upsertSkippedPush = (tx: Tx, row: SkippedPushRow): void => void tx.run(tables.replaceInto('skipped_pushes').values(row))

/** Without `branch`: those of all branches. */
export function deleteSkippedPushes(tx: Tx, projectId: string, branch?: string): void {
  const pushes = tables.deleteFrom('skipped_pushes').where('project_id', '=', projectId)
  tx.run(branch === undefined ? pushes : pushes.where('branch', '=', branch))
}

export const findPreview = first((projectId: string, branch: string) =>
  tables.selectFrom('previews').selectAll().where('project_id', '=', projectId).where('branch', '=', branch),
)

export const findPreviewByHost = first((host: string) => tables.selectFrom('previews').selectAll().where('host', '=', host))

export const listOpenPreviews = all((projectId: string) =>
  tables.selectFrom('previews').selectAll().where('project_id', '=', projectId).orderBy('branch'),
)

/** The preview of a branch. If there is none, creates it with a unique host name. */
export function upsertPreview(tx: Tx, project: { id: string; slug: string }, branch: string, now: string): PreviewRow {
  const found = findPreview(tx, project.id, branch)
  if (found) {
    updatePreview(tx, project.id, branch, { updated_at: now })
    return { ...found, updated_at: now }
  }
  const names = createHostLabels(branch, project.slug).map((label) => `${label}.localhost`)
  const host = names.find((name) => findPreviewByHost(tx, name) === undefined)
  if (host === undefined) throw new Error(`No host name is available for a branch preview of ${project.slug}.`)
  const row: PreviewRow = { project_id: project.id, branch, host, is_cold: 0, last_request_at: null, created_at: now, updated_at: now }
  tx.run(tables.insertInto('previews').values(row))
  return row
}

export function updatePreview(tx: Tx, projectId: string, branch: string, change: Partial<Pick<PreviewRow, 'is_cold' | 'updated_at'>>): void {
  tx.run(tables.updateTable('previews').set(change).where('project_id', '=', projectId).where('branch', '=', branch))
}

export const deletePreview = run((projectId: string, branch: string) =>
  tables.deleteFrom('previews').where('project_id', '=', projectId).where('branch', '=', branch),
)

const forgetPreviewHeads = run((projectId: string) =>
  tables
    .deleteFrom('branches')
    .where('project_id', '=', projectId)
    .where('branch', 'in', (eb) => eb.selectFrom('previews').select('previews.branch').where('previews.project_id', '=', projectId)),
)
const wakePreviews = run((projectId: string) => tables.updateTable('previews').set({ is_cold: 0 }).where('project_id', '=', projectId))

/** Resets the previews of a stopped project, so that they are deployed again when the project resumes. */
export function resetPreviews(tx: Tx, projectId: string): void {
  forgetPreviewHeads(tx, projectId)
  wakePreviews(tx, projectId)
}

const listStatuses = all((projectId: string, branch: string) =>
  tables
    .selectFrom('deployments')
    .select(['status', 'is_current'])
    .where('project_id', '=', projectId)
    .where('target', '=', 'preview')
    .where('branch', '=', branch)
    .where((eb) =>
      eb.or([
        eb('is_current', '=', 1),
        eb('status', 'in', ['queued', 'building', 'deploying']),
        eb(
          'seq',
          '=',
          eb
            .selectFrom('deployments as n')
            .select((newest) => newest.fn.max<number>('n.seq').as('seq'))
            .where('n.project_id', '=', projectId)
            .where('n.target', '=', 'preview')
            .where('n.branch', '=', branch),
        ),
      ]),
    )
    .orderBy('seq', 'desc'),
)

/** The status of an open preview, for its status page; undefined if it is closed. */
export function readPreviewStatus(
  tx: Tx,
  projectId: string,
  branch: string,
): { is_serving: boolean; is_building: boolean; status: DeploymentStatus } | undefined {
  if (!findPreview(tx, projectId, branch)) return undefined
  const rows = listStatuses(tx, projectId, branch)
  return {
    is_serving: rows.some((row) => row.is_current === 1 || row.status === 'deploying'),
    is_building: rows.some((row) => row.status === 'queued' || row.status === 'building'),
    status: rows[0]?.status ?? 'canceled',
  }
}

/** For a query in which the preview is `p`. */
const deploymentsOfPreview = tables
  .selectFrom('deployments as d')
  .where('d.project_id', '=', sql.ref<string>('p.project_id'))
  .where('d.target', '=', 'preview')
  .where('d.branch', '=', sql.ref<string>('p.branch'))

export interface PreviewSummaryRow extends PreviewRow {
  /** The deployment that serves the preview, else the newest. */
  deployment_id: string
  commit_sha: string | null
  commit_message: string | null
  /** The status of the newest deployment. */
  status: DeploymentStatus
  was_ready: 0 | 1
}

/** Open previews with their deployments, the most recently changed first. */
export const listPreviewSummaries = all((projectId: string) =>
  tables
    .selectFrom('previews as p')
    .innerJoin('deployments as n', (join) =>
      join.on((eb) =>
        eb(
          'n.seq',
          '=',
          deploymentsOfPreview.select((d) => d.fn.max<number>('d.seq').as('seq')),
        ),
      ),
    )
    .innerJoin('deployments as s', (join) =>
      join.on((eb) => eb('s.seq', '=', deploymentsOfPreview.select('d.seq').orderBy('d.is_current', 'desc').orderBy('d.seq', 'desc').limit(1))),
    )
    .selectAll('p')
    .select(['s.id as deployment_id', 's.commit_sha', 's.commit_message', 'n.status'])
    .select((eb) =>
      eb
        .exists(deploymentsOfPreview.select('d.seq').where('d.status', '=', 'ready').where('d.created_at', '>=', sql.ref<string>('p.created_at')))
        .$castTo<0 | 1>()
        .as('was_ready'),
    )
    .where('p.project_id', '=', projectId)
    .orderBy('p.updated_at', 'desc')
    .orderBy('n.seq', 'desc'),
)
