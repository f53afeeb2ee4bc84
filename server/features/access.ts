import { Problem } from '../contract/errors.ts'
import { findDeployment } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import { listVisibleAccountIds } from '../store/users.ts'
import { findProjectBySlug } from '../store/projects.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

/**
 * The only lookup of projects: by slug, for the owner and the team of its account. For everyone else the project does not exist.
 */
export function requireProject(tx: Tx, caller: Caller, slug: string): ProjectRow {
  const project = findProjectBySlug(tx, slug)
  if (!project || !canAccessAccount(tx, caller, project.account_id))
    throw new Problem('project_not_found', 'This project does not exist, or you do not have access. Check the slug.')
  return project
}

/** A deployment of that project. A deployment of another project is a 404. */
export function requireDeployment(tx: Tx, caller: Caller, slug: string, id: string): { project: ProjectRow; deployment: DeploymentRow } {
  const project = requireProject(tx, caller, slug)
  const deployment = findDeployment(tx, project.id, id)
  if (!deployment) throw new Problem('deployment_not_found', 'This project has no deployment with this ID. Check the ID.')
  return { project, deployment }
}

/** Restricts an action to the owner of the account. Team members can only use its projects. */
export function requireAccountOwner(caller: Caller, accountId: string, action: string): void {
  if (caller.account_id !== accountId)
    throw new Problem('forbidden', `Only the owner of the account can ${action}. You are a team member: ask the owner.`)
}

export function canAccessAccount(tx: Tx, caller: Caller, accountId: string): boolean {
  return caller.account_id === accountId || listCallerAccountIds(tx, caller).includes(accountId)
}

export const listCallerAccountIds = (tx: Tx, caller: Caller): string[] =>
  listVisibleAccountIds(tx, { id: caller.user_id, account_id: caller.account_id })
