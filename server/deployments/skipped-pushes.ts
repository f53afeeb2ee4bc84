import { posix } from 'node:path'
import { isoTime } from '../lib/clock.ts'
import { createWatchPathMatcher, parseWatchPaths } from '../lib/watch-paths.ts'
import type { ChangedFiles, ChangedFilesRequest } from '../source/changed-files.ts'
import { findPreviewPushBase, findProductionPushBase } from '../store/deployments.ts'
import { findPreview, upsertSkippedPush } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { DeploymentServiceOptions } from './context.ts'
import { readSource } from './deployment-row.ts'
import { type BranchPush, decidePush } from './previews.ts'
import { readCredentials } from './variables.ts'

export interface PushFilterOptions extends Pick<DeploymentServiceOptions, 'store' | 'clock' | 'log' | 'sealer'> {
  listChangedFiles(request: ChangedFilesRequest, signal: AbortSignal): Promise<ChangedFiles | undefined>
}

/** These files define what is watched and built, so their changes always count. */
const configFiles = ['homeport.yaml', 'homeport.yml']

/**
 * Whether a push changes nothing in the watch paths; it is then recorded and not deployed. The deployed commit is compared with the
 * pushed one, so that skipped and force-pushed commits in between make no difference. A push that cannot be compared is deployed.
 */
export async function skipUnaffectedPush(push: BranchPush, options: PushFilterOptions, signal: AbortSignal): Promise<boolean> {
  const { store, clock, log } = options
  const before = await store.db.read((tx) => findComparison(tx, push))
  if (!before) return false
  const { project, base, from } = before
  const changed = await options
    .listChangedFiles(
      {
        url: push.url,
        branch: push.branch,
        allow_local: project.repo_is_trusted === 1,
        credentials: readCredentials(options, project),
        from,
        to: push.commit_sha,
      },
      signal,
    )
    .catch((error: unknown) => {
      signal.throwIfAborted()
      log.warn('push_compare_failed', { project: project.id, error })
    })
  if (!changed || changed.files.some(createFileCheck(project))) return false
  return store.db.write((tx) => {
    const now = findComparison(tx, push)
    if (now?.base.id !== base.id || now.project.watch_paths !== project.watch_paths) return false
    const { project_id, branch, commit_sha } = push
    const { files, commit_message } = changed
    const skipped_at = isoTime(clock.now())
    upsertSkippedPush(tx, { project_id, branch, commit_sha, commit_message, base_id: base.id, changed_files: files.length, skipped_at })
    tx.publish({ type: 'project_changed', id: project_id })
    return true
  })
}

/** The commit to compare a push with; undefined if the decision does not depend on files. */
function findComparison(tx: Tx, push: BranchPush): { project: ProjectRow; base: DeploymentRow; from: string } | undefined {
  const project = findProject(tx, push.project_id)
  if (!project || parseWatchPaths(project.watch_paths).length === 0 || decidePush(tx, push).kind !== 'deploy') return undefined
  const base = findBase(tx, project, push.branch)
  if (!base || base.source !== 'git' || base.commit_sha === null) return undefined
  const source = readSource(base)
  return source.kind === 'git' && source.url === push.url ? { project, base, from: base.commit_sha } : undefined
}

/** The first push of a branch is compared with production, from which its preview would differ. An open preview without a deployment, such as after its project was stopped, is deployed in any case. */
function findBase(tx: Tx, project: ProjectRow, branch: string): DeploymentRow | undefined {
  if (branch === project.repo_branch) return findProductionPushBase(tx, project.id)
  return findPreviewPushBase(tx, project.id, branch) ?? (findPreview(tx, project.id, branch) ? undefined : findProductionPushBase(tx, project.id))
}

function createFileCheck({ root_directory, watch_paths }: ProjectRow): (path: string) => boolean {
  const isWatched = createWatchPathMatcher(parseWatchPaths(watch_paths))
  const always = new Set(configFiles.map((name) => posix.join(root_directory, name)))
  return (path) => always.has(path) || isWatched(path)
}
