import { type QueryClient } from '@tanstack/react-query'
import { usePagedApiQuery, pollInterval_ms } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { refetchQueries } from './query-cache.ts'

/** The user's API tokens, newest first. Refetched periodically to update the last use. */
export const useTokens = () =>
  usePagedApiQuery((client, page, signal) => client.call('listTokens', { query: { limit: '50', ...page }, signal }), {
    queryKey: queryKeys.tokens,
    refetchInterval: 2 * pollInterval_ms,
    staleTime: 1_000,
  })

const refetchTokens = (cache: QueryClient) => refetchQueries(cache, queryKeys.tokens)
export const useCreateToken = createMutationHook('createToken', refetchTokens)
export const useRevokeToken = createMutationHook('revokeToken', refetchTokens)
