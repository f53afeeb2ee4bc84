import { type QueryClient } from '@tanstack/react-query'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { useApiQuery, pollInterval_ms } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'

/** Trust state of the instance's certificates. Owner only. */
export const useHttps = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('getHttps', { signal })).https, { queryKey: queryKeys.https, enabled })

/** The apps domain and its certificates, which change without the user. Owner only. */
export const usePublicNames = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('getPublicNames', { signal })).public_names, {
    queryKey: queryKeys.publicNames,
    enabled,
    refetchInterval: pollInterval_ms,
  })

export const useHostsFile = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('getHostsFile', { signal })).hosts_file, {
    queryKey: queryKeys.hostsFile,
    enabled,
  })

export const useLan = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('getLan', { signal })).lan, {
    queryKey: queryKeys.lan,
    enabled,
    // Addresses change when the machine joins or leaves a network.
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })

const storeHttps = (cache: QueryClient, { https }: CallOutput<'trustAuthority'>) => cache.setQueryData(queryKeys.https, https)
export const useTrustAuthority = createMutationHook('trustAuthority', storeHttps)
export const useRemoveAuthority = createMutationHook('removeAuthority', storeHttps)
