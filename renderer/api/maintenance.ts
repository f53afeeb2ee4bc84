import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { useClient } from './queries.ts'

// Looking into every folder takes its time, and copies come by the hour: nobody has to know by the second.
const slowPollInterval_ms = 60_000

/** What takes which room; for the owner alone. */
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

/** Dumps of every project's database, of projects that are gone too. */
export function useAllDumps(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.allDumps,
    enabled,
    queryFn: async ({ signal }) => (await client.call('listEveryDatabaseDump', { signal })).dumps,
    staleTime: 2_000,
  })
}
