import { type QueryClient, useMutationState, useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './use-client.ts'

// Disk usage is expensive to compute and backups are hourly, so frequent polling has no benefit.
const slowPollInterval_ms = 60_000

/** Disk usage by kind. Owner only. */
export function useDisk(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.disk,
    enabled,
    queryFn: ({ signal }) => client.call('getDisk', { signal }),
    refetchInterval: slowPollInterval_ms,
    staleTime: 2_000,
  })
}

export function useBackups(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.backups,
    enabled,
    queryFn: ({ signal }) => client.call('listBackups', { signal }),
    refetchInterval: slowPollInterval_ms,
    staleTime: 2_000,
  })
}

/** Database dumps of all projects, including deleted ones. */
export function useAllDumps(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.allDumps,
    enabled,
    queryFn: async ({ signal }) => (await client.call('listEveryDatabaseDump', { signal })).dumps,
    staleTime: 2_000,
  })
}

const refetchBackups = (cache: QueryClient) => invalidate(cache, queryKeys.backups, queryKeys.disk)
export const useCreateBackup = createMutationHook('createBackup', refetchBackups)
export const useDeleteBackup = createMutationHook('deleteBackup', refetchBackups)
export const useCleanDisk = createMutationHook('cleanDisk', (cache) => invalidate(cache, queryKeys.disk))

/** Start time of a pending backup, also after the user left the page and returned. */
export function useBackupSince(): number | undefined {
  return useMutationState({ filters: { mutationKey: ['createBackup'], status: 'pending' }, select: ({ state }) => state.submittedAt })[0]
}
