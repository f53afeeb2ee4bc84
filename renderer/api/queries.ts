import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { MetricsRange } from '../../server/contract/metrics.ts'
import { useConnection } from '../stores/connection.ts'
import type { ApiResponse, ApiClient } from './api-client.ts'
import { type DeploymentFilter, queryKeys } from './query-keys.ts'
import { ApiProblem } from '../lib/api-problem.ts'

const pageSize = '100'

export function useClient() {
  return useConnection((state) => state.current.client)
}

/** The signed-in user and the instance; null on an instance that does not report a session (a hosted account). */
export function useInstanceSession() {
  return useQuery(sessionQuery(useClient()))
}

export function sessionQuery(client: ApiClient) {
  return {
    queryKey: queryKeys.session,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<ApiResponse<'getSession'> | null> =>
      client.call('getSession', { signal }).then(requireCompleteSession, (problem) => {
        if (problem instanceof ApiProblem && problem.status === 404 && problem.code !== 'remote_not_found') return null
        throw problem
      }),
  }
}

/** Validates the shape, because nearly every page depends on the session and would crash without its fields. */
function requireCompleteSession(session: ApiResponse<'getSession'>): ApiResponse<'getSession'> {
  const { instance, user } = (session ?? {}) as Partial<ApiResponse<'getSession'>>
  if (instance?.runtime && user) return session
  throw new ApiProblem('bad_answer', 'The instance did not return your account. Its version may differ from this dashboard’s.')
}

export function useProjects() {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.projects,
    queryFn: ({ pageParam, signal }) =>
      client.call('listProjects', { query: { limit: pageSize, ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function useProject(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.project(slug),
    queryFn: async ({ signal }) => (await client.call('getProject', { params: { slug }, signal })).project,
  })
}

export function useDeployments(slug: string, filter: DeploymentFilter) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.deployments(slug, filter),
    queryFn: ({ pageParam, signal }) =>
      client.call('listDeployments', {
        params: { slug },
        query: { ...filter, limit: pageSize, ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function useLatestDeployment(slug: string, enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.latest(slug),
    enabled,
    queryFn: async ({ signal }) => (await client.call('listDeployments', { params: { slug }, query: { limit: '1' }, signal })).deployments[0] ?? null,
  })
}

export function useServingDeployment(slug: string, enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.serving(slug),
    enabled,
    async queryFn({ signal }) {
      const page = await client.call('listDeployments', { params: { slug }, query: { target: 'production', status: 'ready', limit: '50' }, signal })
      return page.deployments.find((deployment) => deployment.is_current) ?? null
    },
  })
}

export function useDeployment(slug: string, id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.deployment(slug, id),
    queryFn: async ({ signal }) => (await client.call('getDeployment', { params: { slug, id }, signal })).deployment,
  })
}

/** No event reports metrics, so they are polled while the page is visible. */
export const pollInterval_ms = 15_000

export function useMetrics(slug: string, range: MetricsRange) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.metrics(slug, range),
    queryFn: ({ signal }) => client.call('getMetrics', { params: { slug }, query: { range }, signal }),
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
    // Keeps the previous range visible while the next one loads, so that the page does not jump.
    placeholderData: keepPreviousData,
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

function indexBySlug({ projects }: ApiResponse<'listSparklines'>): Map<string, number[]> {
  return new Map(projects.map(({ slug, requests }) => [slug, requests]))
}

export function useEnvVars(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.envVars(slug),
    queryFn: async ({ signal }) => (await client.call('listEnvVars', { params: { slug }, signal })).env_vars,
  })
}

export function useCacheEvents(slug: string) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: queryKeys.cacheEvents(slug),
    queryFn: ({ pageParam, signal }) =>
      client.call('listCacheEvents', { params: { slug }, query: { limit: '20', ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })
}

/** Trust state of the instance's certificates. Owner only. */
export function useHttps(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.https, enabled, queryFn: async ({ signal }) => (await client.call('getHttps', { signal })).https })
}

export function useHostsFile(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.hostsFile,
    enabled,
    queryFn: async ({ signal }) => (await client.call('getHostsFile', { signal })).hosts_file,
  })
}

export function useLan(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.lan,
    enabled,
    queryFn: async ({ signal }) => (await client.call('getLan', { signal })).lan,
    // Addresses change when the machine joins or leaves a network.
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })
}

export function useSettings(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.settings, enabled, queryFn: async ({ signal }) => (await client.call('getSettings', { signal })).settings })
}

export function useUsers(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.users, enabled, queryFn: async ({ signal }) => (await client.call('listUsers', { signal })).users })
}

export function useDoctor() {
  const client = useClient()
  return useQuery({ queryKey: queryKeys.doctor, queryFn: async ({ signal }) => (await client.call('doctor', { signal })).checks })
}
