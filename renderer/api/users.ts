import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './use-client.ts'
import type { QueryClient } from '@tanstack/react-query'

export function useUsers(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.users, enabled, queryFn: async ({ signal }) => (await client.call('listUsers', { signal })).users })
}

const refetchUsers = (cache: QueryClient) => invalidate(cache, queryKeys.users)
export const useAddUser = createMutationHook('addUser', refetchUsers)
export const useRemoveUser = createMutationHook('removeUser', refetchUsers)
export const useVerifyUser = createMutationHook('verifyUser', refetchUsers)
export const useCreateVerificationLink = createMutationHook('createVerificationLink', refetchUsers)
export const useSendVerification = createMutationHook('sendVerification')
export const useSetOwnerPassword = createMutationHook('setOwnerPassword')
