import { Problem } from '../contract/errors.ts'
import { findDeployment } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import { listVisibleAccountIds } from '../store/users.ts'
import { findProjectBySlug } from '../store/projects.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

/**
 * The one way to a project: by slug, for its owner and the team of its account. To everybody else it answers just like one
 * that does not exist.
 */
export function requireProject(tx: Tx, caller: Caller, slug: string): ProjectRow {
  const project = findProjectBySlug(tx, slug)
  if (!project || !canAccessAccount(tx, caller, project.account_id))
    throw new Problem('project_not_found', 'There is no such project, or you may not see it. Check the slug.')
  return project
}

/** A deployment of that project; the id of another project's is as unknown as any. */
export function requireDeployment(tx: Tx, caller: Caller, slug: string, id: string): { project: ProjectRow; deployment: DeploymentRow } {
  const project = requireProject(tx, caller, slug)
  const deployment = findDeployment(tx, project.id, id)
  if (!deployment) throw new Problem('deployment_not_found', 'This project has no such deployment. Check the id.')
  return { project, deployment }
}

/** What the owner of an account alone may do: a member of the team uses its projects, and gives nothing of it away. */
export function requireAccountOwner(caller: Caller, accountId: string, action: string): void {
  if (caller.account_id !== accountId)
    throw new Problem('forbidden', `Only the owner of the account may ${action}. You are a member of its team: ask the owner.`)
}

export function canAccessAccount(tx: Tx, caller: Caller, accountId: string): boolean {
  return caller.account_id === accountId || listCallerAccountIds(tx, caller).includes(accountId)
}

export const listCallerAccountIds = (tx: Tx, caller: Caller): string[] =>
  listVisibleAccountIds(tx, { id: caller.user_id, account_id: caller.account_id })
