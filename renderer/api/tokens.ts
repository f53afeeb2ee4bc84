import { type QueryClient } from '@tanstack/react-query'
import { usePagedApiQuery, pollInterval_ms } from './query.ts'
import { useCapabilities } from './capabilities.ts'
import type { ApiToken, ScopedToken } from '../../server/contract/tokens.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { refetchQueries } from './query-cache.ts'

/** A hosted account may not say what a token is limited to. */
export type ListedToken = ApiToken & Partial<ScopedToken>

/** The user's API tokens, newest first. Refetched periodically to update the last use. */
export function useTokens() {
  const { has_instance_api } = useCapabilities()
  return usePagedApiQuery(
    (client, page, signal): Promise<{ api_tokens: ListedToken[]; next_cursor: string | null }> =>
      client.call(has_instance_api ? 'listScopedTokens' : 'listTokens', { query: { limit: '50', ...page }, signal }),
    {
      queryKey: [...queryKeys.tokens, has_instance_api],
      refetchInterval: 2 * pollInterval_ms,
      staleTime: 1_000,
    },
  )
}

const refetchTokens = (cache: QueryClient) => refetchQueries(cache, queryKeys.tokens)
export const useCreateToken = createMutationHook('createToken', refetchTokens)
export const useCreateScopedToken = createMutationHook('createScopedToken', refetchTokens)
export const useRevokeToken = createMutationHook('revokeToken', refetchTokens)
