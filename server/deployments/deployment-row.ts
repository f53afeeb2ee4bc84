import { basename } from 'node:path'
import type { GitSource, Source } from '../contract/deployment-source.ts'
import type { DeploymentTrigger } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { Problem } from '../contract/errors.ts'
import { findDeployment } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'

/** What to deploy. The row is inserted as `queued` before the call resolves, so a response means that the deployment is durable. */
export interface EnqueueRequest {
  project_id: string
  trigger: DeploymentTrigger
  /** Only `of`: the same source as that deployment. */
  source: Source | { of: string }
  /** Builds without caches. A retry of the deployment uses them again. */
  no_cache?: boolean
  /** For a new archive: the checked file, which is moved, and the name and commit that its sender states. */
  archive?: { file: string; name?: string | undefined; commit: { [Name in 'commit_sha' | 'commit_message' | 'commit_author']?: string | undefined } }
}

/** The linked repository as a source: the head of the production branch, or a commit of any branch. */
export function linkedRepository(project: ProjectRow, commit?: { branch: string; commit_sha: string }): GitSource {
  if (project.repo_url === null)
    throw new Problem('project_not_connected', 'This project has no git repository. Set repo_url, or deploy a folder with homeport deploy.')
  return { kind: 'git', url: project.repo_url, branch: project.repo_branch, commit_sha: null, allow_local: project.repo_is_trusted === 1, ...commit }
}

export const readSource = (row: Pick<DeploymentRow, 'source_request'>): Source => JSON.parse(row.source_request) as Source

/** The row of a requested deployment. The source is fixed here, so that later changes of the project have no effect on it. */
export function createDeploymentRow(
  tx: Tx,
  project: ProjectRow,
  request: EnqueueRequest,
  defaults: { id: string; runtime: RuntimeName; now: string },
): Omit<DeploymentRow, 'seq'> {
  const baseRow = {
    id: defaults.id,
    project_id: project.id,
    status: 'queued' as const,
    trigger: request.trigger,
    runtime: defaults.runtime,
    created_at: defaults.now,
    is_current: 0 as const,
    url: null,
    error: null,
    framework: null,
    image_bytes: null,
    queued_ms: null,
    build_ms: null,
    deploy_ms: null,
    started_at: null,
    finished_at: null,
    artifact: null,
    inputs_digest: null,
    listen_port: null,
    attempt: 0,
    skips_cache: request.no_cache === true ? (1 as const) : (0 as const),
  }
  if (!('kind' in request.source)) {
    const parent = findDeployment(tx, project.id, request.source.of)
    if (!parent) throw new Problem('deployment_not_found', 'The deployment was deleted in the meantime.')
    const { target, source, branch, commit_sha, commit_message, commit_author, is_dirty, source_name, source_bytes, files_changed } = parent
    const sourceFacts = { branch, commit_sha, commit_message, commit_author, is_dirty, source_name, source_bytes, files_changed }
    return { ...baseRow, ...sourceFacts, target, source, parent_id: parent.id, source_request: JSON.stringify(repeatSource(parent)) }
  }
  const { source } = request
  const { commit_sha = null, commit_message = null, commit_author = null } = request.archive?.commit ?? {}
  return {
    ...baseRow,
    // Another branch than the production branch is a preview.
    target: source.kind === 'git' && source.branch !== project.repo_branch ? 'preview' : 'production',
    source: source.kind === 'archive' ? 'upload' : source.kind,
    branch: source.kind === 'git' ? source.branch : null,
    commit_sha: source.kind === 'git' ? source.commit_sha : commit_sha,
    commit_message,
    commit_author,
    is_dirty: 0,
    source_name: source.kind === 'folder' ? basename(source.path) || null : (request.archive?.name ?? null),
    source_bytes: null,
    files_changed: null,
    parent_id: null,
    source_request: JSON.stringify(source),
  }
}

/** The source of an earlier deployment: its commit once it is known, or the stored copy. */
function repeatSource(parent: DeploymentRow): Source {
  const source = readSource(parent)
  if (source.kind === 'git') return { ...source, commit_sha: parent.commit_sha ?? source.commit_sha }
  // A queued deployment has no copy of its folder yet.
  return source.kind === 'folder' && parent.status === 'queued' ? source : { ...source, of: source.of ?? parent.id }
}
