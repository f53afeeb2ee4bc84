import { type QueryClient, useInfiniteQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { refetchQueries } from './query-cache.ts'
import { pollInterval_ms, useClient } from './use-client.ts'

/** The user's API tokens, newest first. Refetched periodically to update the last use. */
export function useTokens() {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.tokens,
    queryFn: ({ pageParam, signal }) => client.call('listTokens', { query: { limit: '50', ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: 2 * pollInterval_ms,
    staleTime: 1_000,
  })
}

const refetchTokens = (cache: QueryClient) => refetchQueries(cache, queryKeys.tokens)
export const useCreateToken = createMutationHook('createToken', refetchTokens)
export const useRevokeToken = createMutationHook('revokeToken', refetchTokens)
