import { type QueryClient } from '@tanstack/react-query'
import { usePagedApiQuery, pollInterval_ms } from './query.ts'
import { refetchQueries } from './query-cache.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'

export const useCacheEvents = (slug: string) =>
  usePagedApiQuery((client, page, signal) => client.call('listCacheEvents', { params: { slug }, query: { limit: '20', ...page }, signal }), {
    queryKey: queryKeys.cacheEvents(slug),
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })

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
