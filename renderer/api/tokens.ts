import { useInfiniteQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { look_again_ms, useClient } from './queries.ts'

/** My API tokens, newest first. When one was used last is asked for again while somebody looks. */
export function useTokens() {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: keys.tokens,
    queryFn: ({ pageParam, signal }) => client.call('listTokens', { query: { limit: '50', ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: 2 * look_again_ms,
    staleTime: 1_000,
  })
}
