import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { pollInterval_ms, useClient } from './use-client.ts'

/** Trust state of the instance's certificates. Owner only. */
export function useHttps(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.https, enabled, queryFn: async ({ signal }) => (await client.call('getHttps', { signal })).https })
}

export function useHostsFile(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.hostsFile,
    enabled,
    queryFn: async ({ signal }) => (await client.call('getHostsFile', { signal })).hosts_file,
  })
}

export function useLan(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.lan,
    enabled,
    queryFn: async ({ signal }) => (await client.call('getLan', { signal })).lan,
    // Addresses change when the machine joins or leaves a network.
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })
}

const storeHttps = (cache: QueryClient, { https }: CallOutput<'trustAuthority'>) => cache.setQueryData(queryKeys.https, https)
export const useTrustAuthority = createMutationHook('trustAuthority', storeHttps)
export const useRemoveAuthority = createMutationHook('removeAuthority', storeHttps)
