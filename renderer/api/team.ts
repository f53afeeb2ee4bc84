import { type QueryClient, useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './use-client.ts'

/** The user's team, its pending invitations, and the teams that the user belongs to. */
export function useTeam(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.team, enabled, queryFn: ({ signal }) => client.call('getTeam', { signal }) })
}

const refetchTeam = (cache: QueryClient) => invalidate(cache, queryKeys.team)
const refetchTeams = (cache: QueryClient) => invalidate(cache, queryKeys.team, queryKeys.projects)
export const useCreateInvitation = createMutationHook('createInvitation', refetchTeam)
export const useRevokeInvitation = createMutationHook('revokeInvitation', refetchTeam)
export const useAcceptInvitation = createMutationHook('acceptInvitation', refetchTeams)
export const useRemoveMember = createMutationHook('removeMember', refetchTeam)
export const useLeaveTeam = createMutationHook('leaveTeam', refetchTeams)
/** Shares the projects of a user with another one. */
export const useAddTeamMember = createMutationHook('addTeamMember')
