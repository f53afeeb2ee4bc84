import { type QueryClient } from '@tanstack/react-query'
import { useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'

/** The user's team, its pending invitations, and the teams that the user belongs to. */
export const useTeam = (enabled = true) => useApiQuery((client, signal) => client.call('getTeam', { signal }), { queryKey: queryKeys.team, enabled })

const refetchTeam = (cache: QueryClient) => invalidate(cache, queryKeys.team)
const refetchTeams = (cache: QueryClient) => invalidate(cache, queryKeys.team, queryKeys.projects)
export const useCreateInvitation = createMutationHook('createInvitation', refetchTeam)
export const useRevokeInvitation = createMutationHook('revokeInvitation', refetchTeam)
export const useAcceptInvitation = createMutationHook('acceptInvitation', refetchTeams)
export const useRemoveMember = createMutationHook('removeMember', refetchTeam)
export const useLeaveTeam = createMutationHook('leaveTeam', refetchTeams)
/** Shares the projects of a user with another one. */
export const useAddTeamMember = createMutationHook('addTeamMember')
