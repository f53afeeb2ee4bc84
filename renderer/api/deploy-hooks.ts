import type { QueryClient } from '@tanstack/react-query'
import { createMutationHook, invalidate } from './mutation.ts'
import { useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

export const useDeployHooks = (slug: string) =>
  useApiQuery((client, signal) => client.call('listDeployHooks', { params: { slug }, signal }), { queryKey: queryKeys.deployHooks(slug) })

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.deployHooks(slug))

export const useCreateDeployHook = createMutationHook('createDeployHook', refresh)
export const useDeleteDeployHook = createMutationHook('deleteDeployHook', refresh)
