import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { useClient } from './queries.ts'

/** The user's team, its pending invitations, and the teams that the user belongs to. */
export function useTeam(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.team, enabled, queryFn: ({ signal }) => client.call('getTeam', { signal }) })
}
