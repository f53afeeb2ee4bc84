import { useMutationState, useQuery } from '@tanstack/react-query'
import type { Database } from '../../server/contract/databases.ts'
import type { CallInput, Client } from './client.ts'
import { keys } from './keys.ts'
import { useOffered } from './offered.ts'
import { ApiProblem, problemFrom } from './problem.ts'
import { look_again_ms, useClient } from './queries.ts'

const isAway = (error: unknown) => problemFrom(error).code === 'database_unavailable'
// How far a server is that starts for the first time is news by the second.
const soon_ms = 2_000

/** The database of a project, or null; `isInstance`: it is asked so that neither none nor one that is away is an error of the network. */
export async function findDatabase(client: Client, isInstance: boolean, slug: string, signal: AbortSignal): Promise<Database | null> {
  const input = { params: { slug }, signal }
  if (!isInstance)
    return client.call('getDatabase', input).then(
      ({ database }) => database,
      (error: unknown) => {
        if (problemFrom(error).code === 'database_not_found') return null
        throw error
      },
    )
  const { database, unavailable } = await client.call('findDatabase', input)
  if (unavailable !== null) throw new ApiProblem('database_unavailable', unavailable, { status: 503 })
  return database
}

/** The database of a project, or null. Its size grows unsaid: it is asked for again while somebody looks. */
export function useDatabase(slug: string) {
  const client = useClient()
  const offered = useOffered()
  const isMaking = useProvisioningSince(slug) !== null
  return useQuery({
    queryKey: keys.database(slug),
    queryFn: ({ signal }) => findDatabase(client, offered.instance, slug, signal),
    enabled: offered.is_known,
    retry: (failures, error) => failures < 2 && !isAway(error) && problemFrom(error).status !== 404,
    refetchInterval: ({ state }) => (isMaking || (state.error && isAway(state.error)) ? soon_ms : 2 * look_again_ms),
    staleTime: 1_000,
  })
}

export function useDumps(slug: string, enabled: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: keys.dumps(slug),
    enabled,
    queryFn: async ({ signal }) => (await client.call('listDatabaseDumps', { params: { slug }, signal })).dumps,
    // Made from a command line, one says nothing of itself.
    refetchInterval: 2 * look_again_ms,
    staleTime: 1_000,
  })
}

/** When the database of this project was asked for, while it is being made, also by who has been elsewhere meanwhile. */
export function useProvisioningSince(slug: string): number | null {
  const since = useMutationState({
    filters: { mutationKey: ['createDatabase'], status: 'pending' },
    select: ({ state }) => ((state.variables as CallInput<'createDatabase'>).params.slug === slug ? state.submittedAt : null),
  })
  return since.find((at) => at !== null) ?? null
}
