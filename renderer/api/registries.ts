import type { QueryClient } from '@tanstack/react-query'
import { useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Registries that a project has credentials for; null on an instance that does not support them (a hosted account). */
export function useRegistries(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.registries(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? client.call('listRegistries', { params: { slug }, signal }) : null),
  })
}

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.registries(slug))

export const useAddRegistry = createMutationHook('addRegistry', refresh)
export const useRemoveRegistry = createMutationHook('removeRegistry', refresh)
