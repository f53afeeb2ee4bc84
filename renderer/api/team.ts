import { useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { useClient } from './queries.ts'

/** The team of my account, who is invited to it, and the teams that I am in. */
export function useTeam() {
  const client = useClient()
  return useQuery({ queryKey: keys.team, queryFn: ({ signal }) => client.call('getTeam', { signal }) })
}
