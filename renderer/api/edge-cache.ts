import { type QueryClient, useInfiniteQuery } from '@tanstack/react-query'
import { refetchQueries } from './query-cache.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useClient } from './use-client.ts'

export function useCacheEvents(slug: string) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.cacheEvents(slug),
    queryFn: ({ pageParam, signal }) =>
      client.call('listCacheEvents', { params: { slug }, query: { limit: '20', ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })
}

type ProjectInput = { params: { slug: string } }

export const usePurgeTags = createMutationHook('purgeTags', refetchPurges)
export const usePurgeUrls = createMutationHook('purgeUrls', refetchPurges)
export const usePurgeAll = createMutationHook('purgeAll', refetchPurges)
export const useInspectCache = createMutationHook('inspectCache', (cache, answer, input) => {
  if (input.body.send) refetchPurges(cache, answer, input)
})
export const useCreatePurgeToken = createMutationHook('createPurgeToken', (cache, answer, input) => {
  refetchPurges(cache, answer, input)
  invalidate(cache, queryKeys.project(input.params.slug))
})

function refetchPurges(cache: QueryClient, _: unknown, { params: { slug } }: ProjectInput): void {
  refetchQueries(cache, queryKeys.cacheEvents(slug))
  invalidate(cache, ['metrics', slug])
}
