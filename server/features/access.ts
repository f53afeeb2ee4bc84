import { Problem } from '../contract/errors.ts'
import { type DomainView, findDomainView } from '../store/domains.ts'
import type { Tx } from '../store/store.ts'
import { listVisibleAccountIds } from '../store/users.ts'
import { findProjectBySlug } from '../store/projects.ts'
import { findDeployment } from '../store/deployments.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

/**
 * The only lookup of projects: by slug, for the owner and the team of its account. For everyone else the project does not exist.
 */
export function requireProject(tx: Tx, caller: Caller, slug: string): ProjectRow {
  const project = findProjectBySlug(tx, slug)
  if (!project || !canAccessProject(tx, caller, project)) throw projectNotFound()
  return project
}

export const projectNotFound = () => new Problem('project_not_found', 'This project does not exist, or you do not have access. Check the slug.')

/** A domain that the caller may see, else a 404. */
export function requireDomain(tx: Tx, caller: Caller, id: string): DomainView {
  const row = findDomainView(tx, id)
  if (!row || !canAccessProject(tx, caller, { id: row.project_id, account_id: row.project_account_id }))
    throw new Problem('domain_not_found', 'This domain does not exist, or you do not have access. List your domains with GET /v1/domains.')
  return row
}

export function requireDeployment(tx: Tx, projectId: string, id: string): DeploymentRow {
  const deployment = findDeployment(tx, projectId, id)
  if (!deployment) throw new Problem('deployment_not_found', 'This project has no deployment with this ID. Check the ID.')
  return deployment
}

export const dumpNotFound = () => new Problem('dump_not_found', 'This project has no dump with this ID.')

/** Restricts an action to the owner of the account. Team members can only use its projects. */
export function requireAccountOwner(caller: Caller, accountId: string, action: string): void {
  if (caller.account_id !== accountId)
    throw new Problem('forbidden', `Only the owner of the account can ${action}. You are a team member: ask the owner.`)
}

/** Whether the project belongs to an account of the caller, and the caller's token is not limited to another one. */
export const canAccessProject = (tx: Tx, caller: Caller, project: Pick<ProjectRow, 'id' | 'account_id'>): boolean =>
  isWithinProject(caller, project.id) && canAccessAccount(tx, caller, project.account_id)

export const isWithinProject = (caller: Caller, projectId: string): boolean => caller.project_id === null || caller.project_id === projectId

function canAccessAccount(tx: Tx, caller: Caller, accountId: string): boolean {
  return caller.account_id === accountId || listCallerAccountIds(tx, caller).includes(accountId)
}

export const listCallerAccountIds = (tx: Tx, caller: Caller): string[] =>
  listVisibleAccountIds(tx, { id: caller.user_id, account_id: caller.account_id })
