import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useApiMutation } from './use-api-mutation.ts'
import type { ApiResponse } from './api-client.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'
import { pollInterval_ms, useClient } from './queries.ts'

/** The open previews of a project, the newest change first. */
export function usePreviews(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.previews(slug),
    queryFn: async ({ signal }) => (await client.call('listPreviews', { params: { slug }, signal })).previews,
    // Visits and sleep come with no event.
    refetchInterval: pollInterval_ms,
  })
}

/** How the repository is watched; null on an instance that does not tell (a hosted one). */
export function useWatching(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.watching(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? (await client.call('getWatching', { params: { slug }, signal })).watching : null),
    refetchInterval: pollInterval_ms,
  })
}

/** Changes what a push does. */
export function useUpdateWatching(slug: string) {
  return useApiMutation('updateWatching', { onSuccess: useStoreWatching(slug) })
}

/** Looks at the repository at once. */
export function useCheckRepository(slug: string) {
  return useApiMutation('checkRepository', { successMessage: 'Repository checked.', onSuccess: useStoreWatching(slug) })
}

/** Both answer with how it is watched from then on. */
function useStoreWatching(slug: string): (answer: ApiResponse<'getWatching'>) => void {
  const cache = useQueryClient()
  return ({ watching }) => {
    cache.setQueryData(queryKeys.watching(slug), watching)
    void cache.invalidateQueries({ queryKey: queryKeys.previews(slug) })
  }
}
