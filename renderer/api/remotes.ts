import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Remote } from '../../server/contract/remotes.ts'
import { localInstanceId } from '../lib/instance-path.ts'
import { type InstanceConnection, localConnection, useConnection } from '../stores/connection.ts'
import { useSession } from '../stores/session.ts'
import { queryKeys } from './query-keys.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { createMutationHook } from './mutation.ts'
import { sessionQuery } from './instance.ts'
import { pollInterval_ms } from './query.ts'

/** The session at the instance that served the page, regardless of the current instance. */
export function useHomeSession() {
  const signedOut = useSession((state) => state.signed_out)
  return useQuery({ ...sessionQuery(localConnection.client), enabled: !signedOut }, localConnection.cache)
}

/** The other instances. Empty for members, because only the owner can list them. */
export function useRemotes() {
  const isOwner = useHomeSession().data?.user.is_instance_owner
  return useQuery(
    {
      queryKey: queryKeys.remotes,
      enabled: isOwner !== undefined,
      queryFn: async ({ signal }): Promise<Remote[]> => (isOwner ? (await localConnection.client.call('listRemotes', { signal })).remotes : []),
      // Another window or the command line may have added an instance.
      refetchOnWindowFocus: true,
      staleTime: pollInterval_ms,
    },
    localConnection.cache,
  )
}

/** Keeps the list of connections up to date and applies changes of this window immediately. */
export function useSyncRemotes() {
  const query = useRemotes()
  const { data } = query
  useEffect(() => {
    if (data) useConnection.getState().setRemotes(data)
  }, [data])
  return query
}

export const useAddRemote = createMutationHook('addRemote', (cache, { remote }) => upsertRemote(cache, remote), localConnection)
export const useUpdateRemote = createMutationHook('updateRemote', (cache, { remote }) => upsertRemote(cache, remote), localConnection)
export const useDeleteRemote = createMutationHook(
  'deleteRemote',
  (cache, _, { params: { id } }) => cache.setQueryData<Remote[]>(queryKeys.remotes, (all) => all?.filter((one) => one.id !== id)),
  localConnection,
)

function upsertRemote(cache: QueryClient, remote: Remote): void {
  cache.setQueryData<Remote[]>(queryKeys.remotes, (all) => [...(all ?? []).filter(({ id }) => id !== remote.id), remote].toSorted(byCreatedAt))
}

const byCreatedAt = (a: Remote, b: Remote) => (a.created_at < b.created_at ? -1 : 1)

/** Current status of an instance. `version` is null if the instance does not report it (a hosted account). */
export type InstanceState = { name: 'answers'; version: string | null } | { name: 'asks' } | { name: 'silent'; message: string }

export function useInstanceState(connection: InstanceConnection) {
  const { id, is_signed_in } = connection
  const isTokenRejected = useConnection(({ rejected_ids }) => rejected_ids.includes(id))
  return useQuery(
    {
      queryKey: queryKeys.remoteState(id, is_signed_in && !isTokenRejected),
      queryFn: ({ signal }): Promise<InstanceState> =>
        is_signed_in && !isTokenRejected ? probeInstance(connection, signal) : Promise.resolve({ name: 'asks' }),
      refetchInterval: pollInterval_ms,
      refetchOnWindowFocus: true,
      retry: false,
      staleTime: 1_000,
    },
    localConnection.cache,
  )
}

async function probeInstance({ id, client }: InstanceConnection, signal: AbortSignal): Promise<InstanceState> {
  try {
    const session = await sessionQuery(client).queryFn({ signal })
    if (session) return { name: 'answers', version: session.instance.version }
    // A hosted account reports no version, so listing its projects serves as the health check.
    await client.call('listProjects', { query: { limit: '1' }, signal })
    return { name: 'answers', version: null }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'remote_token_refused' && id !== localInstanceId) return { name: 'asks' }
    return { name: 'silent', message: error.message }
  }
}
