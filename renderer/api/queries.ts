import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { MetricsRange } from '../../server/contract/metrics.ts'
import { useConnection } from '../stores/connection.ts'
import type { Answer, Client } from './client.ts'
import { type DeploymentFilter, keys } from './keys.ts'
import { ApiProblem } from './problem.ts'

const pageSize = '100'

export function useClient() {
  return useConnection((state) => state.current.client)
}

/** Who I am and where; null on an instance that does not tell (a hosted one). */
export function useInstance() {
  return useQuery(sessionOf(useClient()))
}

export function sessionOf(client: Client) {
  return {
    queryKey: keys.session,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Answer<'getSession'> | null> =>
      client.call('getSession', { signal }).then(checked, (problem) => {
        if (problem instanceof ApiProblem && problem.status === 404 && problem.code !== 'remote_not_found') return null
        throw problem
      }),
  }
}

/** So much hangs on it that one without its parts would take every page down. */
function checked(session: Answer<'getSession'>): Answer<'getSession'> {
  const { instance, user } = (session ?? {}) as Partial<Answer<'getSession'>>
  if (instance?.runtime && user) return session
  throw new ApiProblem('bad_answer', 'The instance did not say who you are there. It may be of another version than this dashboard.')
}

export function useProjects() {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: keys.projects,
    queryFn: ({ pageParam, signal }) =>
      client.call('listProjects', { query: { limit: pageSize, ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
}

export function useProject(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: keys.project(slug),
    queryFn: async ({ signal }) => (await client.call('getProject', { params: { slug }, signal })).project,
  })
}

export function useDeployments(slug: string, filter: DeploymentFilter) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: keys.deployments(slug, filter),
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

export function useLatest(slug: string, enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: keys.latest(slug),
    enabled,
    queryFn: async ({ signal }) => (await client.call('listDeployments', { params: { slug }, query: { limit: '1' }, signal })).deployments[0] ?? null,
  })
}

export function useServing(slug: string, enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: keys.serving(slug),
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
    queryKey: keys.deployment(slug, id),
    queryFn: async ({ signal }) => (await client.call('getDeployment', { params: { slug, id }, signal })).deployment,
  })
}

/** Nothing pushes figures: they are asked for again while somebody looks. */
export const look_again_ms = 15_000

export function useMetrics(slug: string, range: MetricsRange) {
  const client = useClient()
  return useQuery({
    queryKey: keys.metrics(slug, range),
    queryFn: ({ signal }) => client.call('getMetrics', { params: { slug }, query: { range }, signal }),
    refetchInterval: look_again_ms,
    staleTime: 1_000,
    // Another range is drawn over the one before, so that the page does not jump.
    placeholderData: keepPreviousData,
  })
}

/** Requests of 24 hours by hour, by slug, of the projects that were asked for something. */
export function useSparklines(enabled: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: keys.sparklines,
    enabled,
    queryFn: ({ signal }) => client.call('listSparklines', { signal }),
    select: bySlug,
    refetchInterval: 2 * look_again_ms,
    staleTime: look_again_ms,
  })
}

function bySlug({ projects }: Answer<'listSparklines'>): Map<string, number[]> {
  return new Map(projects.map(({ slug, requests }) => [slug, requests]))
}

export function useEnvVars(slug: string) {
  const client = useClient()
  return useQuery({
    queryKey: keys.envVars(slug),
    queryFn: async ({ signal }) => (await client.call('listEnvVars', { params: { slug }, signal })).env_vars,
  })
}

export function useCacheEvents(slug: string) {
  const client = useClient()
  return useInfiniteQuery({
    queryKey: keys.cacheEvents(slug),
    queryFn: ({ pageParam, signal }) =>
      client.call('listCacheEvents', { params: { slug }, query: { limit: '20', ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: look_again_ms,
    staleTime: 1_000,
  })
}

/** Who trusts the certificates of this instance; for its owner alone. */
export function useHttps(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: keys.https, enabled, queryFn: async ({ signal }) => (await client.call('getHttps', { signal })).https })
}

export function useHostsFile(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: keys.hostsFile, enabled, queryFn: async ({ signal }) => (await client.call('getHostsFile', { signal })).hosts_file })
}

export function useLan(enabled = true) {
  const client = useClient()
  return useQuery({
    queryKey: keys.lan,
    enabled,
    queryFn: async ({ signal }) => (await client.call('getLan', { signal })).lan,
    // Addresses come and go with the networks that the machine joins.
    refetchInterval: look_again_ms,
    staleTime: 1_000,
  })
}

export function useSettings(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: keys.settings, enabled, queryFn: async ({ signal }) => (await client.call('getSettings', { signal })).settings })
}

export function useUsers(enabled = true) {
  const client = useClient()
  return useQuery({ queryKey: keys.users, enabled, queryFn: async ({ signal }) => (await client.call('listUsers', { signal })).users })
}

export function useDoctor() {
  const client = useClient()
  return useQuery({ queryKey: keys.doctor, queryFn: async ({ signal }) => (await client.call('doctor', { signal })).checks })
}
