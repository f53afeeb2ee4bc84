import type { Deployment } from '../../contract/deployments.ts'
import type { EnvVar } from '../../contract/env-vars.ts'
import type { PlanName } from '../../contract/instance.ts'
import { plans } from '../../contract/plans.ts'
import type { Project } from '../../contract/projects.ts'
import type { RuntimeName } from '../../contract/runtimes.ts'
import { ApiError } from '../api-error.ts'
import type { PromotionClient } from './client.ts'
import { listVariables } from './variables.ts'
import { emptyInventory, type ProjectInventory, readInventory } from './inventory.ts'

export type VariableScope = Pick<EnvVar, 'key' | 'environment'> & { is_write_only?: boolean }

/** A project and its instance, loaded before a promotion. It contains no variable values. */
export interface PromotionSide {
  /** Null: no project has this slug. */
  project: Project | null
  variables: VariableScope[]
  domains: string[]
  /** The parts of the project beyond the fields of /v1. */
  inventory: ProjectInventory
  /** Null on an instance that does not report it. */
  runtime: RuntimeName | null
  /** Whether the instance is a Homeport, which has more operations than /v1. */
  is_instance: boolean
}

export interface SourceProject extends PromotionSide {
  project: Project
  /** Null: no deployment can be built elsewhere. */
  deployment: Deployment | null
}

export interface TargetProject extends PromotionSide {
  plan: PlanName
  /** The project limit of the plan is reached. */
  is_full: boolean
  /** Pushes to its branch are deployed. */
  follows_pushes: boolean
}

export async function loadSourceProject(
  client: PromotionClient,
  slug: string,
  deploymentId: string | null,
  signal: AbortSignal,
): Promise<SourceProject> {
  const [side, deployment] = await Promise.all([loadSide(client, slug, signal), findDeployment(client, slug, deploymentId, signal)])
  if (!side.project) throw new ApiError('project_not_found', `There is no project “${slug}”.`, { status: 404 })
  return { ...side, project: side.project, deployment }
}

export async function loadTargetProject(client: PromotionClient, slug: string, signal: AbortSignal): Promise<TargetProject> {
  const [side, plan, count] = await Promise.all([
    loadSide(client, slug, signal),
    client.call('getBillingStatus', { signal }).then((status) => status.plan),
    client.call('listProjects', { query: { limit: '100' }, signal }).then(({ projects }) => projects.length),
  ])
  const cap = plans[plan].projects
  const isConnected = side.project?.is_connected ?? false
  const follows_pushes = isConnected && (side.inventory.watching?.deploys_pushes ?? true)
  return { ...side, plan, is_full: cap !== null && count >= cap, follows_pushes }
}

async function loadSide(client: PromotionClient, slug: string, signal: AbortSignal): Promise<PromotionSide> {
  const params = { slug }
  const [project, session] = await Promise.all([
    client.call('getProject', { params, signal }).then((answer) => answer.project, nullOnCode('project_not_found')),
    client.call('getSession', { signal }).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404 && error.code !== 'remote_not_found') return null
      throw error
    }),
  ])
  const about = { is_instance: session !== null, runtime: session?.instance.runtime.name ?? null }
  if (!project) return { project: null, variables: [], domains: [], inventory: emptyInventory, ...about }
  const [variables, inventory, domains] = await Promise.all([
    listVariables({ client, slug }, signal).then((found) =>
      found.map(({ key, environment, is_write_only }) => ({ key, environment, is_write_only })),
    ),
    readInventory(client, session !== null, slug, signal),
    client.call('listProjectDomains', { params, signal }).then((answer) => answer.domains.map(({ hostname }) => hostname)),
  ])
  return { project, variables, inventory, domains, ...about }
}

async function findDeployment(client: PromotionClient, slug: string, id: string | null, signal: AbortSignal): Promise<Deployment | null> {
  if (id !== null)
    return client.call('getDeployment', { params: { slug, id }, query: { build_log: 'false' }, signal }).then(({ deployment }) => deployment)
  const { deployments } = await client.call('listDeployments', {
    params: { slug },
    query: { target: 'production', status: 'ready', limit: '50' },
    signal,
  })
  return deployments.find(({ is_current }) => is_current) ?? deployments[0] ?? null
}

/** A missing resource counts as an answer. */
function nullOnCode(code: ApiError['code']): (error: unknown) => null {
  return (error) => {
    if (error instanceof ApiError && error.code === code) return null
    throw error
  }
}
