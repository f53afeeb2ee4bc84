import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { EnvVarChange, NewEnvVar, NewProjectEnvVar, ProjectEnvVar } from '../../server/contract/env-vars.ts'
import type { ApiError } from '../../server/client/api-error.ts'
import { toApiError } from '../lib/api-error.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

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

/** The changes of a page. `is_write_only` and `is_build_secret` are ignored on a hosted account. */
export interface EnvVarChanges {
  create: readonly NewProjectEnvVar[]
  /** By id of the variable. */
  update: Readonly<Record<string, EnvVarChange>>
  delete: readonly string[]
}

/** Saves changes in one step and returns the id of the deployment that they started, if any. The list is up to date afterwards. */
export function useSaveEnvVars(slug: string) {
  const client = useClient()
  const cache = useQueryClient()
  const { has_instance_api } = useCapabilities()
  const variables = useEnvVars(slug).data
  return useMutation<string | null, ApiError, { changes: EnvVarChanges; redeploy: boolean }>({
    async mutationFn({ changes, redeploy }) {
      const save = has_instance_api
        ? client.call('changeProjectEnvVars', { params: { slug }, body: toRequest(changes, redeploy) }).then(({ deployment_id }) => deployment_id)
        : saveOneByOne(client, slug, changes, variables ?? [])
      return save.catch((error: unknown) => {
        throw toApiError(error)
      })
    },
    // The new deployment comes first, so that the page does not offer another one meanwhile.
    async onSuccess() {
      await cache.invalidateQueries({ queryKey: queryKeys.latest(slug) })
      await cache.invalidateQueries({ queryKey: queryKeys.envVars(slug) })
    },
  })
}

const toRequest = ({ create, update, delete: deleted }: EnvVarChanges, redeploy: boolean) => ({
  create: [...create],
  update: Object.entries(update).map(([id, change]) => ({ id, ...change })),
  delete: [...deleted],
  redeploy,
})

/** For an account that changes one variable at a time. Changes that start a deployment come last. */
async function saveOneByOne(client: ApiClient, slug: string, changes: EnvVarChanges, variables: readonly ProjectEnvVar[]): Promise<string | null> {
  for (const [id, { value, is_sensitive }] of Object.entries(changes.update)) {
    const before = variables.find((one) => one.id === id)
    const body = { value: value ?? before?.value ?? '', ...(is_sensitive !== undefined && { is_sensitive }) }
    await client.call('updateEnvVar', { params: { slug, id }, body })
  }
  for (const id of changes.delete) await client.call('deleteEnvVar', { params: { slug, id } })
  if (changes.create.length === 0) return null
  const vars = changes.create.map(({ is_write_only: _, is_build_secret: __, ...one }): NewEnvVar => one)
  return (await client.call('createEnvVars', { params: { slug }, body: { vars } })).deployment_id
}
