import type { QueryClient } from '@tanstack/react-query'
import { useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The managed services that a project has or can have; null on an instance that does not support them (a hosted account). */
export function useManagedServices(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.managedServices(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? client.call('listManagedServices', { params: { slug }, signal }) : null),
  })
}

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.managedServices(slug), queryKeys.latest(slug))

export const useAddManagedService = createMutationHook('addManagedService', refresh)
export const useRemoveManagedService = createMutationHook('removeManagedService', refresh)
