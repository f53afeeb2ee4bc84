import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useApiMutation } from './use-api-mutation.ts'
import type { ApiResponse } from './api-client.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'
import { pollInterval_ms, useClient } from './queries.ts'

/** The open previews of a project, most recently changed first. */
export function usePreviews(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.previews(slug),
    queryFn: async ({ signal }) => (await client.call('listPreviews', { params: { slug }, signal })).previews,
    // No event reports visits and sleep.
    refetchInterval: pollInterval_ms,
  })
}

/** Polling state of the repository; null on an instance that does not support it (a hosted account). */
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

/** Updates the automatic deployment settings. */
export function useUpdateWatching(slug: string) {
  return useApiMutation('updateWatching', { onSuccess: useStoreWatching(slug) })
}

/** Checks the repository immediately. */
export function useCheckRepository(slug: string) {
  return useApiMutation('checkRepository', { successMessage: 'Repository checked.', onSuccess: useStoreWatching(slug) })
}

/** Both operations respond with the new polling state. */
function useStoreWatching(slug: string): (answer: ApiResponse<'getWatching'>) => void {
  const cache = useQueryClient()
  return ({ watching }) => {
    cache.setQueryData(queryKeys.watching(slug), watching)
    void cache.invalidateQueries({ queryKey: queryKeys.previews(slug) })
  }
}
