import { useQuery } from '@tanstack/react-query'
import { useApiQuery, useClient, pollInterval_ms } from './query.ts'
import type { ApiClient } from './api-client.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { queryKeys } from './query-keys.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { createMutationHook, invalidate } from './mutation.ts'

/** The signed-in user and the instance; null on an instance that does not report a session (a hosted account). */
export function useInstanceSession() {
  return useQuery(sessionQuery(useClient()))
}

export function sessionQuery(client: ApiClient) {
  return {
    queryKey: queryKeys.session,
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<CallOutput<'getSession'> | null> =>
      client.call('getSession', { signal }).then(requireCompleteSession, (problem) => {
        if (problem instanceof ApiError && problem.status === 404 && problem.code !== 'remote_not_found') return null
        throw problem
      }),
  }
}

/** Validates the shape, because nearly every page depends on the session and would crash without its fields. */
function requireCompleteSession(session: CallOutput<'getSession'>): CallOutput<'getSession'> {
  const { instance, user } = (session ?? {}) as Partial<CallOutput<'getSession'>>
  if (instance?.runtime && user) return session
  throw new ApiError('bad_answer', 'The instance did not return your account. Its version may differ from this dashboard’s.')
}

export const useSettings = (enabled = true) =>
  useApiQuery(async (client, signal) => (await client.call('getSettings', { signal })).settings, { queryKey: queryKeys.settings, enabled })

/** Saves instance settings and refetches everything that depends on them. */
export const useUpdateSettings = createMutationHook('updateSettings', (cache, { settings }) => {
  cache.setQueryData(queryKeys.settings, settings)
  invalidate(cache, queryKeys.session, queryKeys.lan, queryKeys.https, queryKeys.hostsFile, queryKeys.billing, queryKeys.allDomains)
})

/** The load of the machine. Owner only. */
export const useInstanceUsage = (enabled: boolean) =>
  useApiQuery((client, signal) => client.call('getInstanceUsage', { signal }), {
    queryKey: queryKeys.instanceUsage,
    enabled,
    refetchInterval: pollInterval_ms,
  })

export const useDoctor = () => useApiQuery(async (client, signal) => (await client.call('doctor', { signal })).checks, { queryKey: queryKeys.doctor })

/** The checks that take a few milliseconds. */
export async function loadQuickChecks(client: ApiClient, signal: AbortSignal): Promise<CallOutput<'doctor'>['checks']> {
  const { checks } = await client.call('doctor', { query: { quick: 'true' }, signal })
  return Array.isArray(checks) ? checks : []
}
