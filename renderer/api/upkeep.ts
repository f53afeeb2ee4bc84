import { useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { useClient } from './queries.ts'

// Looking into every folder takes its time, and copies come by the hour: nobody has to know by the second.
const lookAgain_ms = 60_000

/** What takes which room; for the owner alone. */
export function useDisk(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: keys.disk,
    enabled,
    queryFn: ({ signal }) => client.call('getDisk', { signal }),
    refetchInterval: lookAgain_ms,
    staleTime: 2_000,
  })
}

export function useBackups(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: keys.backups,
    enabled,
    queryFn: ({ signal }) => client.call('listBackups', { signal }),
    refetchInterval: lookAgain_ms,
    staleTime: 2_000,
  })
}

/** Dumps of every project's database, of projects that are gone too. */
export function useEveryDump(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: keys.everyDump,
    enabled,
    queryFn: async ({ signal }) => (await client.call('listEveryDatabaseDump', { signal })).dumps,
    staleTime: 2_000,
  })
}
