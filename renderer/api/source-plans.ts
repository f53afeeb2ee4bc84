import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook } from './mutation.ts'
import { useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The source to plan: the repository of a project, a repository, or a folder of this machine. */
export type PlanSource =
  | { kind: 'project'; slug: string }
  | { kind: 'repository'; repo_url: string; repo_branch: string | undefined }
  | { kind: 'folder'; path: string }

/** The user's selection in a repository with several apps. */
export interface PlanChoice {
  root_directory: string | null
  apps: readonly string[]
}

/** Plans a source without deploying it; null on an instance that cannot (a hosted account). */
export function useSourcePlan(source: PlanSource, choice: PlanChoice, enabled = true) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.sourcePlan(source, choice),
    enabled: enabled && is_known,
    staleTime: Infinity,
    retry: false,
    // The previous plan stays visible while that of another app loads.
    placeholderData: keepPreviousData,
    async queryFn({ signal }) {
      if (!has_instance_api) return null
      const body = { ...(choice.root_directory === null ? {} : { root_directory: choice.root_directory }), apps: [...choice.apps] }
      if (source.kind === 'project') return (await client.call('planProject', { params: { slug: source.slug }, body, signal })).plan
      if (source.kind === 'folder') return (await client.call('planFolder', { body: { path: source.path, ...body }, signal })).plan
      const { repo_url, repo_branch } = source
      return (await client.call('planRepository', { body: { repo_url, repo_branch, ...body }, signal })).plan
    },
  })
}

export const useSaveFolderPlan = createMutationHook('saveFolderPlan')
