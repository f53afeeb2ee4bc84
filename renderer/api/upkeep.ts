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
