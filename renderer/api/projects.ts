import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { queryKeys } from './query-keys.ts'
import { removeProject } from './query-cache.ts'
import { createMutationHook } from './mutation.ts'
import { pollInterval_ms, useClient } from './use-client.ts'

export function useProjects() {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.projects,
    queryFn: ({ pageParam, signal }) => client.call('listProjects', { query: { limit: '100', ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
}

/** `waitsForVisit`: polls until the app was visited, which no event reports. */
export function useProject(slug: string, waitsForVisit = false) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.project(slug),
    queryFn: async ({ signal }) => (await client.call('getProject', { params: { slug }, signal })).project,
    refetchInterval: ({ state }) => waitsForVisit && !state.data?.last_request_at && pollInterval_ms / 3,
    refetchOnWindowFocus: waitsForVisit && 'always',
  })
}

/** Hourly request counts of the last 24 hours by slug, for the projects that had requests. */
export function useSparklines(enabled: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.sparklines,
    enabled,
    queryFn: ({ signal }) => client.call('listSparklines', { signal }),
    select: indexBySlug,
    refetchInterval: 2 * pollInterval_ms,
    staleTime: pollInterval_ms,
  })
}

function indexBySlug({ projects }: CallOutput<'listSparklines'>): Map<string, number[]> {
  return new Map(projects.map(({ slug, requests }) => [slug, requests]))
}

export const useCreateProject = createMutationHook('createProject')
export const useUpdateProject = createMutationHook('updateProject')
export const useStopProject = createMutationHook('stopProject')
export const useDeleteProject = createMutationHook('deleteProject', (cache, _, { params }) => removeProject(cache, params.slug))
export const useDeployProject = createMutationHook('deployProject')
export const useDeployFolder = createMutationHook('deployFolder')
