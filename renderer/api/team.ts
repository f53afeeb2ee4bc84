import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { useClient } from './queries.ts'

/** The team of my account, who is invited to it, and the teams that I am in. */
export function useTeam(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.team, enabled, queryFn: ({ signal }) => client.call('getTeam', { signal }) })
}
