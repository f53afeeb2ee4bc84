import { useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The development servers behind the addresses of a project; null on an instance that does not support them (a hosted account). */
export function useDevServers(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.devServers(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? (await client.call('listDevSessions', { params: { slug }, signal })).sessions : null),
  })
}

export const useEndDevServer = createMutationHook('endDevSession', (cache, _, { params }) => invalidate(cache, queryKeys.devServers(params.slug)))
