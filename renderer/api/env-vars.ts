import { type QueryClient } from '@tanstack/react-query'
import { useApiQuery } from './query.ts'
import { upsertEnvVars } from './query-cache.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'

export const useEnvVars = (slug: string) =>
  useApiQuery(async (client, signal) => (await client.call('listEnvVars', { params: { slug }, signal })).env_vars, {
    queryKey: queryKeys.envVars(slug),
  })

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
