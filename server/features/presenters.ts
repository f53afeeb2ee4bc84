import type { Deployment, DeploymentFailure } from '../contract/deployments.ts'
import type { Account, User } from '../contract/instance.ts'
import type { Project } from '../contract/projects.ts'
import { countDeploymentsUpTo, readQueuePosition } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import { listScreenshots } from '../store/screenshot-store.ts'
import type { AccountRow, DeploymentRow, ProjectRow, UserRow } from '../store/tables.ts'

/** Converts rows to API resources with exactly the fields of the contract. */

export function presentProject(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    repo_url: row.repo_url,
    repo_branch: row.repo_branch,
    is_connected: row.repo_url !== null,
    node_version: row.node_version,
    install_command: row.install_command,
    build_command: row.build_command,
    root_directory: row.root_directory,
    memory_limit_mb: row.memory_limit_mb,
    port: row.port,
    status: row.status,
    always_warm: row.always_warm === 1,
    is_cold: row.is_cold === 1,
    caching_enabled: row.caching_enabled === 1,
    has_purge_token: row.has_purge_token === 1,
    last_request_at: row.last_request_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export function presentDeployment(tx: Tx, row: DeploymentRow): Deployment {
  const screenshots = row.status === 'ready' ? listScreenshots(tx, row.id) : []
  return {
    id: row.id,
    project_id: row.project_id,
    number: countDeploymentsUpTo(tx, row.project_id, row.seq),
    status: row.status,
    target: row.target,
    trigger: row.trigger,
    source: row.source,
    branch: row.branch,
    commit_sha: row.commit_sha,
    commit_message: row.commit_message,
    commit_author: row.commit_author,
    is_dirty: row.is_dirty === 1,
    source_name: row.source_name,
    source_bytes: row.source_bytes,
    files_changed: row.files_changed,
    parent_id: row.parent_id,
    is_current: row.is_current === 1,
    can_rollback: row.target === 'production' && row.status === 'ready',
    url: row.url,
    queue_position: row.status === 'queued' ? readQueuePosition(tx, row) : null,
    error: row.error === null ? null : (JSON.parse(row.error) as DeploymentFailure),
    framework: row.framework,
    runtime: row.runtime,
    image_bytes: row.image_bytes,
    queued_ms: row.queued_ms,
    build_ms: row.build_ms,
    deploy_ms: row.deploy_ms,
    screenshots: { desktop: screenshots.includes('desktop'), mobile: screenshots.includes('mobile') },
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
  }
}

export function presentUser(row: UserRow): User {
  return {
    id: row.id,
    account_id: row.account_id,
    email: row.email,
    email_verified: row.email_verified === 1,
    is_instance_owner: row.is_instance_owner === 1,
    created_at: row.created_at,
  }
}

export function presentAccount(row: Pick<AccountRow, 'id' | 'plan' | 'has_payment_method' | 'created_at'>): Account {
  return { id: row.id, plan: row.plan, has_payment_method: row.has_payment_method === 1, created_at: row.created_at }
}
