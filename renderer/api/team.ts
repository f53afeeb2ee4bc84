import { useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { useClient } from './queries.ts'

/** The team of my account, who is invited to it, and the teams that I am in. */
export function useTeam(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: keys.team, enabled, queryFn: ({ signal }) => client.call('getTeam', { signal }) })
}
