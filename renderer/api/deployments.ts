import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { Deployment } from '../../server/contract/deployments.ts'
import { type DeploymentFilter, queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { useClient } from './use-client.ts'

export function useDeployments(slug: string, filter: DeploymentFilter) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.deployments(slug, filter),
    queryFn: ({ pageParam, signal }) =>
      client.call('listDeployments', {
        params: { slug },
        query: { ...filter, limit: '100', ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function useLatestDeployment(slug: string, enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.latest(slug),
    enabled,
    queryFn: async ({ signal }) => (await client.call('listDeployments', { params: { slug }, query: { limit: '1' }, signal })).deployments[0] ?? null,
  })
}

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
export function useDeployment(slug: string, id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.deployment(slug, id),
    queryFn: async ({ signal }) => (await client.call('getDeployment', { params: { slug, id }, query: { build_log: 'false' }, signal })).deployment,
  })
}

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
