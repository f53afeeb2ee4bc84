import { type QueryClient, useMutationState } from '@tanstack/react-query'
import { useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'

// Disk usage is expensive to compute and backups are hourly, so frequent polling has no benefit.
const slowPollInterval_ms = 60_000

/** Disk usage by kind. Owner only. */
export const useDisk = (enabled = true) =>
  useApiQuery((client, signal) => client.call('getDisk', { signal }), {
    queryKey: queryKeys.disk,
    enabled,
    refetchInterval: slowPollInterval_ms,
    staleTime: 2_000,
  })

export const useBackups = (enabled = true) =>
  useApiQuery((client, signal) => client.call('listBackups', { signal }), {
    queryKey: queryKeys.backups,
    enabled,
    refetchInterval: slowPollInterval_ms,
    staleTime: 2_000,
  })

/** Database dumps of all projects, including deleted ones. */
export const useAllDumps = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('listEveryDatabaseDump', { signal })).dumps, {
    queryKey: queryKeys.allDumps,
    enabled,
    staleTime: 2_000,
  })

const refetchBackups = (cache: QueryClient) => invalidate(cache, queryKeys.backups, queryKeys.disk)
export const useCreateBackup = createMutationHook('createBackup', refetchBackups)
export const useDeleteBackup = createMutationHook('deleteBackup', refetchBackups)
export const useCleanDisk = createMutationHook('cleanDisk', (cache) => invalidate(cache, queryKeys.disk))

/** Start time of a pending backup, also after the user left the page and returned. */
export function useBackupSince(): number | undefined {
  return useMutationState({ filters: { mutationKey: ['createBackup'], status: 'pending' }, select: ({ state }) => state.submittedAt })[0]
}
