import type { DeploymentTrigger, RuntimeName } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import { findDeployment } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { SourceRef } from './source-ref.ts'

/** What to deploy. The row is inserted as `queued` before the call resolves, so a response means that the deployment is durable. */
export interface EnqueueRequest {
  project_id: string
  trigger: DeploymentTrigger
  source:
    /** The head of the linked repository. */
    | { kind: 'head' }
    /** The same source as an earlier deployment. */
    | { kind: 'same_as'; deployment_id: string }
    /** A folder of this machine. */
    | { kind: 'folder'; path: string }
    /** A checked archive; the file is moved. */
    | { kind: 'archive'; file: string; commit?: Partial<Record<'commit_sha' | 'commit_message' | 'commit_author', string | undefined>> }
    /** A commit of a branch of the linked repository: for production on the production branch, else for a preview. */
    | { kind: 'branch'; branch: string; commit_sha: string }
}

/** The row of a requested deployment. The source is fixed here, so that later changes of the project have no effect on it. */
export function createDeploymentRow(
  tx: Tx,
  project: ProjectRow,
  request: EnqueueRequest,
  defaults: { id: string; runtime: RuntimeName; now: string },
): Omit<DeploymentRow, 'seq'> {
  const parent = request.source.kind === 'same_as' ? findDeployment(tx, project.id, request.source.deployment_id) : undefined
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
  }
  if (parent) {
    const { target, source, branch, commit_sha, commit_message, commit_author, is_dirty } = parent
    return {
      ...baseRow,
      target,
      source,
      branch,
      commit_sha,
      commit_message,
      commit_author,
      is_dirty,
      parent_id: parent.id,
      source_request: JSON.stringify(repeatSource(parent)),
    }
  }
  const noCommit = {
    commit_sha: null,
    commit_message: null,
    commit_author: null,
    is_dirty: 0 as const,
    parent_id: null,
    target: 'production' as const,
  }
  if (request.source.kind === 'folder') {
    const ref: SourceRef = { kind: 'folder', path: request.source.path }
    return { ...baseRow, ...noCommit, source: 'folder', branch: null, source_request: JSON.stringify(ref) }
  }
  if (request.source.kind === 'archive') {
    const ref: SourceRef = { kind: 'bundle', deployment_id: defaults.id }
    const { commit_sha = null, commit_message = null, commit_author = null } = request.source.commit ?? {}
    return { ...baseRow, ...noCommit, commit_sha, commit_message, commit_author, source: 'upload', branch: null, source_request: JSON.stringify(ref) }
  }
  if (project.repo_url === null)
    throw new Problem('project_not_connected', 'This project has no Git repository. Set repo_url, or deploy a folder with homeport deploy.')
  const { branch, commit_sha } = request.source.kind === 'branch' ? request.source : { branch: project.repo_branch, commit_sha: null }
  const ref: SourceRef = { kind: 'git', url: project.repo_url, branch, commit_sha, allow_local: project.repo_is_trusted === 1 }
  const target = branch === project.repo_branch ? 'production' : 'preview'
  return { ...baseRow, ...noCommit, source: 'git', target, branch, commit_sha, source_request: JSON.stringify(ref) }
}

/** The source of an earlier deployment: its commit once it is known, or the copy of its folder. */
function repeatSource(parent: DeploymentRow): SourceRef {
  const ref = JSON.parse(parent.source_request) as SourceRef
  if (ref.kind === 'git') return { ...ref, commit_sha: parent.commit_sha ?? ref.commit_sha }
  // A queued deployment has no copy of its folder yet.
  return ref.kind === 'folder' && parent.status !== 'queued' ? { kind: 'snapshot', deployment_id: parent.id } : ref
}
