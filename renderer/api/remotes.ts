import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Remote } from '../../server/contract/remotes.ts'
import { homeId } from '../stores/address.ts'
import { type Connection, home, useConnection } from '../stores/connection.ts'
import { useSession } from '../stores/session.ts'
import { keys } from './keys.ts'
import { ApiProblem } from './problem.ts'
import { look_again_ms, sessionOf } from './queries.ts'

/** Who I am at the instance that served the page, whichever is in front. */
export function useHomeSession() {
  const signedOut = useSession((state) => state.signed_out)
  return useQuery({ ...sessionOf(home.client), enabled: !signedOut }, home.cache)
}

/** The other instances; none for a member, whose business they are not. */
export function useRemotes() {
  const isOwner = useHomeSession().data?.user.is_instance_owner
  return useQuery(
    {
      queryKey: keys.remotes,
      enabled: isOwner !== undefined,
      queryFn: async ({ signal }): Promise<Remote[]> => (isOwner ? (await home.client.call('listRemotes', { signal })).remotes : []),
      // Another window, or the command line, may have added one.
      refetchOnWindowFocus: true,
      staleTime: look_again_ms,
    },
    home.cache,
  )
}

/** Keeps the list of connections true, and takes in at once what this window changed. */
export function useListedRemotes() {
  const query = useRemotes()
  const { data } = query
  useEffect(() => {
    if (data) useConnection.getState().list(data)
  }, [data])
  return query
}

export function putRemote(remote: Remote): void {
  home.cache.setQueryData<Remote[]>(keys.remotes, (all) => [...(all ?? []).filter(({ id }) => id !== remote.id), remote].toSorted(byAge))
}

export function dropRemote(id: string): void {
  home.cache.setQueryData<Remote[]>(keys.remotes, (all) => all?.filter((one) => one.id !== id))
}

const byAge = (a: Remote, b: Remote) => (a.created_at < b.created_at ? -1 : 1)

/** How an instance is, now. `version` is null where it does not tell, as a hosted one. */
export type InstanceState = { name: 'answers'; version: string | null } | { name: 'asks' } | { name: 'silent'; message: string }

export function useInstanceState(connection: Connection) {
  const { id, is_signed_in } = connection
  const isRefused = useConnection(({ refused }) => refused.includes(id))
  return useQuery(
    {
      queryKey: keys.remoteState(id, is_signed_in && !isRefused),
      queryFn: ({ signal }): Promise<InstanceState> => (is_signed_in && !isRefused ? stateOf(connection, signal) : Promise.resolve({ name: 'asks' })),
      refetchInterval: look_again_ms,
      refetchOnWindowFocus: true,
      retry: false,
      staleTime: 1_000,
    },
    home.cache,
  )
}

async function stateOf({ id, client }: Connection, signal: AbortSignal): Promise<InstanceState> {
  try {
    const session = await sessionOf(client).queryFn({ signal })
    if (session) return { name: 'answers', version: session.instance.version }
    // One that tells nothing of itself has its projects at least.
    await client.call('listProjects', { query: { limit: '1' }, signal })
    return { name: 'answers', version: null }
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error
    if (error.code === 'remote_token_refused' && id !== homeId) return { name: 'asks' }
    return { name: 'silent', message: error.message }
  }
}
