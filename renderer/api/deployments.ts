import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { useApiQuery, usePagedApiQuery, useClient } from './query.ts'
import { type DeploymentFilter, queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { useDeployProject } from './projects.ts'

export const useDeployments = (slug: string, filter: DeploymentFilter) =>
  usePagedApiQuery(
    (client, page, signal) =>
      client.call('listDeployments', {
        params: { slug },
        query: { ...filter, limit: '100', ...page },
        signal,
      }),
    {
      queryKey: queryKeys.deployments(slug, filter),
    },
  )

export const useLatestDeployment = (slug: string, enabled = true) =>
  useApiQuery(
    async (client, signal) => (await client.call('listDeployments', { params: { slug }, query: { limit: '1' }, signal })).deployments[0] ?? null,
    {
      queryKey: queryKeys.latest(slug),
      enabled,
    },
  )

export function useServingDeployment(slug: string, enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.serving(slug),
    enabled,
    async queryFn({ signal }) {
      const page = await client.call('listDeployments', { params: { slug }, query: { target: 'production', status: 'ready', limit: '50' }, signal })
      return page.deployments.find((deployment) => deployment.is_current) ?? null
    },
  })
}

/** Without its log, which `followBuild` delivers. */
export const useDeployment = (slug: string, id: string) =>
  useApiQuery(
    async (client, signal) => (await client.call('getDeployment', { params: { slug, id }, query: { build_log: 'false' }, signal })).deployment,
    {
      queryKey: queryKeys.deployment(slug, id),
    },
  )

/** What a rollback would do. */
export const useRollbackPlan = (slug: string, id: string, enabled: boolean) =>
  useApiQuery(async (client, signal) => (await client.call('planRollback', { params: { slug, id }, signal })).plan, {
    queryKey: queryKeys.rollbackPlan(slug, id),
    enabled,
    // A variable may change at any time.
    staleTime: 0,
  })

/** Finds the deployment that a change of variables started, because the response to a deletion has no body. It is the latest by now. */
export function useFindRedeployment(slug: string): () => Promise<Deployment | null> {
  const client = useClient()
  return async () => {
    const page = await client.call('listDeployments', { params: { slug }, query: { limit: '1', target: 'production' } }).catch(() => null)
    const latest = page?.deployments[0]
    return latest?.trigger === 'env_change' ? latest : null
  }
}

export const useCancelDeployment = createMutationHook('cancelDeployment')
/** With the options that only an instance has. */
export const useCreateDeployment = createMutationHook('createDeployment')
export const useRetryDeployment = createMutationHook('retryDeployment')
export const useRollbackDeployment = createMutationHook('rollbackDeployment')

/** Restarts the current version with a rollback to itself: the same build starts again, and traffic switches once it is healthy. */
export function useRestart(slug: string) {
  const [, navigate] = useLocation()
  const { mutate, isPending } = useRollbackDeployment({
    successMessage: 'Restarting. The current version stays live until the new one is healthy.',
    onSuccess: ({ deployment_id }) => navigate(`/projects/${slug}/deployments/${deployment_id}`),
  })
  return { isPending, mutate: ({ id }: Deployment) => mutate({ params: { slug, id } }) }
}

/**
 * Deploys a project again: the newest commit of its repository, or without one the source of the version that serves or was deployed last. Null if
 * there is neither.
 */
export function useRedeploy({ slug, is_connected }: Pick<Project, 'slug' | 'is_connected'>, enabled = true): (() => void) | null {
  const [, navigate] = useLocation()
  const { data: serving } = useServingDeployment(slug, enabled && !is_connected)
  const { data: latest } = useLatestDeployment(slug, enabled && !is_connected)
  const rebuilt = serving ?? latest
  const onSuccess = ({ deployment_id }: { deployment_id: string }) => navigate(`/projects/${slug}/deployments/${deployment_id}`)
  const deploy = useDeployProject({ onSuccess })
  const retry = useRetryDeployment({ onSuccess })
  if (is_connected) return () => deploy.mutate({ params: { slug } })
  return rebuilt ? () => retry.mutate({ params: { slug, id: rebuilt.id } }) : null
}
