import { useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Settings beyond those of the project itself; null on an instance that does not have them (a hosted account). */
export function useProjectSettings(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.projectSettings(slug),
    enabled: is_known,
    queryFn: ({ signal }) => (has_instance_api ? client.call('getProjectSettings', { params: { slug }, signal }) : null),
  })
}

export const useUpdateProjectSettings = createMutationHook('updateProjectSettings', (cache, answer, { params: { slug } }) =>
  cache.setQueryData(queryKeys.projectSettings(slug), answer),
)
