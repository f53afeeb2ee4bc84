import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { NewEnvVar, NewProjectEnvVar, ProjectEnvVar } from '../../server/contract/env-vars.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { useClient } from './query.ts'
import { upsertEnvVars } from './query-cache.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook } from './mutation.ts'

/** The variables of a project. A hosted account has no write-only ones. */
export async function listVariables(client: ApiClient, hasInstanceApi: boolean, slug: string, signal?: AbortSignal): Promise<ProjectEnvVar[]> {
  const input = { params: { slug }, ...(signal && { signal }) }
  if (hasInstanceApi) return (await client.call('listProjectEnvVars', input)).env_vars
  return (await client.call('listEnvVars', input)).env_vars.map((one) => ({ ...one, is_write_only: false, is_build_secret: false }))
}

export function useEnvVars(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.envVars(slug),
    enabled: is_known,
    queryFn: ({ signal }) => listVariables(client, has_instance_api, slug, signal),
  })
}

interface MutationOptions<Answer> {
  hidesErrorToast?: boolean
  onSuccess?: (answer: Answer) => void
}

/** Adds variables. On a hosted account none of them is write-only. */
export function useCreateEnvVars(options: MutationOptions<CallOutput<'createEnvVars'>>) {
  const { has_instance_api } = useCapabilities()
  const own = useCreateProjectEnvVars(options)
  const hosted = useCreateHostedEnvVars(options)
  const { isPending, error, reset } = has_instance_api ? own : hosted
  return {
    isPending,
    error,
    reset,
    mutate(slug: string, body: NewProjectEnvVar | { vars: NewProjectEnvVar[] }) {
      const params = { slug }
      if (has_instance_api) own.mutate({ params, body })
      else hosted.mutate({ params, body: 'vars' in body ? { vars: body.vars.map(toHosted) } : toHosted(body) })
    },
  }
}

/** Changes a variable. Without a value, the value stays. */
export function useUpdateEnvVar(options: MutationOptions<CallOutput<'updateEnvVar'>>) {
  const { has_instance_api } = useCapabilities()
  const own = useUpdateProjectEnvVar(options)
  const hosted = useUpdateHostedEnvVar(options)
  const { isPending, error, reset } = has_instance_api ? own : hosted
  return {
    isPending,
    error,
    reset,
    mutate(
      slug: string,
      { id, value }: Pick<ProjectEnvVar, 'id' | 'value'>,
      change: { value?: string; is_sensitive?: boolean; is_write_only?: true; is_build_secret?: boolean },
    ) {
      const params = { slug, id }
      if (has_instance_api) return own.mutate({ params, body: change })
      const { is_write_only: _, is_build_secret: __, ...rest } = change
      hosted.mutate({ params, body: { value, ...rest } })
    },
  }
}

const toHosted = ({ is_write_only: _, is_build_secret: __, ...one }: NewProjectEnvVar): NewEnvVar => one

const useCreateProjectEnvVars = createMutationHook('createProjectEnvVars', showCreated)
const useCreateHostedEnvVars = createMutationHook('createEnvVars', showCreated)
const useUpdateProjectEnvVar = createMutationHook('updateProjectEnvVar', (cache, _, { params }) => refetchEnvVars(cache, params.slug))
const useUpdateHostedEnvVar = createMutationHook('updateEnvVar', (cache, _, { params }) => refetchEnvVars(cache, params.slug))
export const useDeleteEnvVar = createMutationHook('deleteEnvVar', (cache, _, { params }) => refetchEnvVars(cache, params.slug))

function showCreated(
  cache: QueryClient,
  answer: CallOutput<'createEnvVars'>,
  { params: { slug }, body }: { params: { slug: string }; body: NewProjectEnvVar | { vars: NewProjectEnvVar[] } },
): void {
  upsertEnvVars(cache, slug, answer, 'vars' in body ? body.vars : [body])
  refetchEnvVars(cache, slug)
}

/** The new deployment comes first, so that the page does not offer another one meanwhile. */
function refetchEnvVars(cache: QueryClient, slug: string): void {
  void cache.invalidateQueries({ queryKey: queryKeys.latest(slug) }).then(() => cache.invalidateQueries({ queryKey: queryKeys.envVars(slug) }))
}
