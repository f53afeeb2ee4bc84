import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The branches with their own copy of production's data; null on an instance that does not support them (a hosted account). */
export function useForks(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.forks(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? client.call('listForks', { params: { slug }, signal }) : null),
  })
}

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.forks(slug), queryKeys.previews(slug))

export const useForkEnvironment = createMutationHook('forkEnvironment', refresh)
export const useRemoveFork = createMutationHook('removeFork', refresh)
