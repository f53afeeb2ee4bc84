import { useQueries } from '@tanstack/react-query'
import type { Project } from '../../server/contract/projects.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { useApiQuery, useClient, usePagedApiQuery, pollInterval_ms } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { removeProject } from './query-cache.ts'
import { createMutationHook } from './mutation.ts'

export const useProjects = () =>
  usePagedApiQuery((client, page, signal) => client.call('listProjects', { query: { limit: '100', ...page }, signal }), {
    queryKey: queryKeys.projects,
  })

/** `waitsForVisit`: polls until the app received a request, which no event reports. */
export const useProject = (slug: string, waitsForRequest = false) =>
  useApiQuery(async (client, signal) => (await client.call('getProject', { params: { slug }, signal })).project, {
    queryKey: queryKeys.project(slug),
    refetchInterval: ({ state }) => waitsForRequest && !state.data?.last_request_at && pollInterval_ms / 3,
    refetchOnWindowFocus: waitsForRequest && 'always',
  })

/** These projects, as far as they exist and are loaded. */
export function useProjectsBySlug(slugs: readonly string[]): Project[] {
  const client = useClient()
  return useQueries({
    queries: slugs.map((slug) => ({
      queryKey: queryKeys.project(slug),
      queryFn: async ({ signal }: { signal: AbortSignal }) => (await client.call('getProject', { params: { slug }, signal })).project,
    })),
    combine: collectData,
  })
}

/** Declared once, so that the result is the same array while nothing changes. */
const collectData = (results: readonly { data: Project | undefined }[]): Project[] => results.flatMap(({ data }) => data ?? [])

/** Hourly request counts of the last 24 hours by slug, for the projects that had requests. */
export const useSparklines = (enabled: boolean) =>
  useApiQuery((client, signal) => client.call('listSparklines', { signal }), {
    queryKey: queryKeys.sparklines,
    enabled,
    select: indexBySlug,
    refetchInterval: 2 * pollInterval_ms,
    staleTime: pollInterval_ms,
  })

function indexBySlug({ projects }: CallOutput<'listSparklines'>): Map<string, number[]> {
  return new Map(projects.map(({ slug, requests }) => [slug, requests]))
}

export const useCreateProject = createMutationHook('createProject')
export const useUpdateProject = createMutationHook('updateProject')
export const useStopProject = createMutationHook('stopProject')
export const useDeleteProject = createMutationHook('deleteProject', (cache, _, { params }) => removeProject(cache, params.slug))
export const useDeployProject = createMutationHook('deployProject')
export const useClearBuildCache = createMutationHook('clearBuildCache')
export const useDeployFolder = createMutationHook('deployFolder')
