import { type QueryClient, useQuery } from '@tanstack/react-query'
import { upsertEnvVars } from './query-cache.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'
import { useClient } from './use-client.ts'

export function useEnvVars(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.envVars(slug),
    queryFn: async ({ signal }) => (await client.call('listEnvVars', { params: { slug }, signal })).env_vars,
  })
}

export const useCreateEnvVars = createMutationHook('createEnvVars', (cache, answer, { params: { slug }, body }) => {
  upsertEnvVars(cache, slug, answer, 'vars' in body ? body.vars : [body])
  refetchEnvVars(cache, slug)
})
export const useUpdateEnvVar = createMutationHook('updateEnvVar', (cache, _, { params }) => refetchEnvVars(cache, params.slug))
export const useDeleteEnvVar = createMutationHook('deleteEnvVar', (cache, _, { params }) => refetchEnvVars(cache, params.slug))

/** The new deployment comes first, so that the page does not offer another one meanwhile. */
function refetchEnvVars(cache: QueryClient, slug: string): void {
  void cache.invalidateQueries({ queryKey: queryKeys.latest(slug) }).then(() => cache.invalidateQueries({ queryKey: queryKeys.envVars(slug) }))
}
