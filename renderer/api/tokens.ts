import { useInfiniteQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { pollInterval_ms, useClient } from './queries.ts'

/** My API tokens, newest first. When one was used last is asked for again while somebody looks. */
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
