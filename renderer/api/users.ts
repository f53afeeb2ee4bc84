import { useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import type { QueryClient } from '@tanstack/react-query'

export const useUsers = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('listUsers', { signal })).users, { queryKey: queryKeys.users, enabled })

const refetchUsers = (cache: QueryClient) => invalidate(cache, queryKeys.users)
export const useAddUser = createMutationHook('addUser', refetchUsers)
export const useRemoveUser = createMutationHook('removeUser', refetchUsers)
export const useVerifyUser = createMutationHook('verifyUser', refetchUsers)
export const useCreateVerificationLink = createMutationHook('createVerificationLink', refetchUsers)
export const useSendVerification = createMutationHook('sendVerification')
export const useSetOwnerPassword = createMutationHook('setOwnerPassword')
