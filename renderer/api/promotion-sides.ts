import { useQuery } from '@tanstack/react-query'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { RuntimeName } from '../../server/contract/runtimes.ts'
import type { PlanName } from '../../server/contract/instance.ts'
import type { EnvVar } from '../../server/contract/env-vars.ts'
import { plans } from '../../server/contract/plans.ts'
import type { Project } from '../../server/contract/projects.ts'
import type { ApiClient } from './api-client.ts'
import { findDatabase } from './databases.ts'
import { listVariables } from './env-vars.ts'
import { toApiError } from '../lib/api-error.ts'
import type { InstanceConnection } from '../stores/connection.ts'
import { sessionQuery } from './instance.ts'

export type VariableScope = Pick<EnvVar, 'key' | 'environment'> & { is_write_only?: boolean }

/** A project and its instance, loaded before a promotion. It contains no variable values. */
export interface PromotionSide {
  /** Null: no project has this slug. */
  project: Project | null
  variables: VariableScope[]
  has_database: boolean
  domains: string[]
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

/** Loaded again for each promotion. */
export function usePromotionSource({ client, cache }: InstanceConnection, slug: string, deploymentId: string | null) {
  return useQuery(
    {
      queryKey: ['promote-source', slug, deploymentId],
      queryFn: ({ signal }) => loadSourceProject(client, slug, deploymentId, signal),
      gcTime: 0,
    },
    cache,
  )
}

export function usePromotionTarget({ client, cache }: InstanceConnection, slug: string) {
  return useQuery(
    { queryKey: ['promote-target', slug], queryFn: ({ signal }) => loadTargetProject(client, slug, signal), enabled: slug !== '', gcTime: 0 },
    cache,
  )
}

/** The projects of an instance, as suggestions. */
export function usePromotionProjects({ client, cache }: InstanceConnection) {
  return useQuery(
    {
      queryKey: ['promote-projects'],
      queryFn: async ({ signal }) => (await client.call('listProjects', { query: { limit: '100' }, signal })).projects,
      gcTime: 0,
    },
    cache,
  )
}

async function loadSourceProject(client: ApiClient, slug: string, deploymentId: string | null, signal: AbortSignal): Promise<SourceProject> {
  const [side, deployment] = await Promise.all([loadSide(client, slug, signal), findDeployment(client, slug, deploymentId, signal)])
  if (!side.project) throw toApiError(new Error('The project no longer exists.'))
  return { ...side, project: side.project, deployment }
}

async function loadTargetProject(client: ApiClient, slug: string, signal: AbortSignal): Promise<TargetProject> {
  const [side, plan, count] = await Promise.all([
    loadSide(client, slug, signal),
    client.call('getBillingStatus', { signal }).then((status) => status.plan),
    client.call('listProjects', { query: { limit: '100' }, signal }).then(({ projects }) => projects.length),
  ])
  const cap = plans[plan].projects
  const isConnected = side.project?.is_connected ?? false
  const follows_pushes =
    isConnected &&
    (!side.is_instance ||
      (await client.call('getWatching', { params: { slug }, signal }).then(
        ({ watching }) => watching.deploys_pushes,
        () => true,
      )))
  return { ...side, plan, is_full: cap !== null && count >= cap, follows_pushes }
}

async function loadSide(client: ApiClient, slug: string, signal: AbortSignal): Promise<PromotionSide> {
  const params = { slug }
  const [project, session] = await Promise.all([
    client.call('getProject', { params, signal }).then((answer) => answer.project, nullOnCode('project_not_found')),
    sessionQuery(client).queryFn({ signal }),
  ])
  const about = { is_instance: session !== null, runtime: session?.instance.runtime.name ?? null }
  if (!project) return { project: null, variables: [], has_database: false, domains: [], ...about }
  const [variables, database, domains] = await Promise.all([
    listVariables(client, session !== null, slug, signal).then((found) =>
      found.map(({ key, environment, is_write_only }) => ({ key, environment, is_write_only })),
    ),
    findDatabase(client, session !== null, slug, signal),
    client.call('listProjectDomains', { params, signal }).then((answer) => answer.domains.map(({ hostname }) => hostname)),
  ])
  return { project, variables, has_database: database !== null, domains, ...about }
}

async function findDeployment(client: ApiClient, slug: string, id: string | null, signal: AbortSignal): Promise<Deployment | null> {
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
function nullOnCode(code: string): (error: unknown) => null {
  return (error) => {
    if (toApiError(error).code === code) return null
    throw error
  }
}
