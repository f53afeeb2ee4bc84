import type { QueryClient } from '@tanstack/react-query'
import { useQuery } from '@tanstack/react-query'
import type { CallInput } from '../../server/client/operation-types.ts'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useApiQuery, useClient, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The services of an environment; null on an instance that does not support them (a hosted account). */
export function useServices(slug: string, branch: string | null) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.services(slug, branch),
    enabled: is_known,
    queryFn: async ({ signal }) =>
      has_instance_api ? client.call('listServices', { params: { slug }, query: branch === null ? {} : { branch }, signal }) : null,
    refetchInterval: pollInterval_ms,
  })
}

/** The changes that autoscaling made to the number of replicas, newest first. */
export const useScalingDecisions = (slug: string) =>
  useApiQuery((client, signal) => client.call('listScalingDecisions', { params: { slug }, signal }), {
    queryKey: queryKeys.scalingDecisions(slug),
    refetchInterval: pollInterval_ms,
  })

/** The runs of a cron service, newest first. */
export const useCronRuns = (slug: string, name: string) =>
  usePagedApiQuery((client, page, signal) => client.call('listCronRuns', { params: { slug, name }, query: page, signal }), {
    queryKey: queryKeys.cronRuns(slug, name),
    refetchInterval: pollInterval_ms,
  })

const refreshServices = (cache: QueryClient, _: unknown, { params }: CallInput<'restartService' | 'runCronService'>): void =>
  invalidate(cache, ['services', params.slug], queryKeys.cronRuns(params.slug, params.name))

export const useRestartService = createMutationHook('restartService', refreshServices)
export const useRunCronService = createMutationHook('runCronService', refreshServices)
