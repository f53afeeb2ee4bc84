import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useApiQuery, pollInterval_ms, useClient } from './query.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'

/** The open previews of a project, most recently changed first. */
export const usePreviews = (slug: string) =>
  useApiQuery(async (client, signal) => (await client.call('listPreviews', { params: { slug }, signal })).previews, {
    queryKey: queryKeys.previews(slug),
    // No event reports visits and sleep.
    refetchInterval: pollInterval_ms,
  })

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
export const useUpdateWatching = createMutationHook('updateWatching', storeWatching)
/** Checks the repository immediately. */
export const useCheckRepository = createMutationHook('checkRepository', storeWatching)

/** Deploys a push that changes nothing in the watch paths. */
export const useDeploySkippedPush = createMutationHook('deploySkippedPush', (cache, _answer, { params: { slug } }) =>
  invalidate(cache, queryKeys.watching(slug), queryKeys.previews(slug)),
)

/** Both operations respond with the new polling state. */
function storeWatching(cache: QueryClient, { watching }: CallOutput<'getWatching'>, { params: { slug } }: { params: { slug: string } }): void {
  cache.setQueryData(queryKeys.watching(slug), watching)
  invalidate(cache, queryKeys.previews(slug))
}
