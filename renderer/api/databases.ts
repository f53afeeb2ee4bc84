import { type QueryClient, useMutationState, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Database } from '../../server/contract/databases.ts'
import type { dumpedServices } from '../../server/contract/service-presets.ts'
import { useApiQuery, pollInterval_ms, useClient } from './query.ts'
import type { ApiClient } from './api-client.ts'
import type { CallInput } from '../../server/client/operation-types.ts'
import { queryKeys } from './query-keys.ts'
import { useCapabilities } from './capabilities.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { toApiError } from '../lib/api-error.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useUpload } from './use-upload.ts'

type DumpedService = (typeof dumpedServices)[number]

/** A managed service whose dumps are shown. */
export interface DumpTarget {
  name: DumpedService
  label: string
}

const isUnavailable = (error: unknown) => toApiError(error).code === 'database_unavailable'
// Polling interval while a database is being created; the first start of the server reports progress every second.
const fastPollInterval_ms = 2_000

/**
 * The database of a project, or null. `isInstance`: uses the instance API, which does not respond with an HTTP error when there is no database or
 * its server is unavailable.
 */
export async function findDatabase(client: ApiClient, hasInstanceApi: boolean, slug: string, signal: AbortSignal): Promise<Database | null> {
  const input = { params: { slug }, signal }
  if (!hasInstanceApi)
    return client.call('getDatabase', input).then(
      ({ database }) => database,
      (error: unknown) => {
        if (toApiError(error).code === 'database_not_found') return null
        throw error
      },
    )
  const { database, unavailable } = await client.call('findDatabase', input)
  if (unavailable !== null) throw new ApiError('database_unavailable', unavailable, { status: 503 })
  return database
}

/** The database of a project, or null. Refetched periodically, because no event reports its size. */
export function useDatabase(slug: string) {
  const client = useClient()
  const capabilities = useCapabilities()
  const isProvisioning = useProvisioningSince(slug) !== null
  return useQuery({
    queryKey: queryKeys.database(slug),
    queryFn: ({ signal }) => findDatabase(client, capabilities.has_instance_api, slug, signal),
    enabled: capabilities.is_known,
    retry: (failures, error) => failures < 2 && !isUnavailable(error) && toApiError(error).status !== 404,
    refetchInterval: ({ state }) => (isProvisioning || (state.error && isUnavailable(state.error)) ? fastPollInterval_ms : 2 * pollInterval_ms),
    staleTime: 1_000,
  })
}

/** `service`: a managed service instead of the PostgreSQL database. */
export const useDumps = (slug: string, enabled: boolean, service?: DumpedService) =>
  useApiQuery(async (client, signal) => (await client.call('listDatabaseDumps', { params: { slug }, query: { service }, signal })).dumps, {
    queryKey: queryKeys.dumps(slug, service ?? 'postgresql'),
    enabled,
    // No event reports a database that the command line created.
    refetchInterval: 2 * pollInterval_ms,
    staleTime: 1_000,
  })

/** Start time of a pending database creation, also after the user left the page and returned. */
export function useProvisioningSince(slug: string): number | null {
  const since = useMutationState({
    filters: { mutationKey: ['createDatabase'], status: 'pending' },
    select: ({ state }) => ((state.variables as CallInput<'createDatabase'>).params.slug === slug ? state.submittedAt : null),
  })
  return since.find((at) => at !== null) ?? null
}

/** Only the cached result, because a project without a database answers 404, which appears in the browser console. */
export function useCachedDatabase(slug: string) {
  return useQuery<Database | null>({ queryKey: queryKeys.database(slug), queryFn: () => null, enabled: false })
}

export const useCreateDatabase = createMutationHook('createDatabase', (cache, { database }, { params }) => {
  const queryKey = queryKeys.database(params.slug)
  cache.setQueryData(queryKey, database)
  // A status request in flight would report the creation as still pending.
  void cache.cancelQueries({ queryKey }).then(() => cache.setQueryData(queryKey, database))
})
export const useRestoreDatabase = createMutationHook('restoreDatabase', (cache, { database, dump }, { params: { slug } }) =>
  dump.service === null ? storeReplaced(cache, slug, database) : refetchDumps(cache, slug),
)
export const useDeleteDatabase = createMutationHook('deleteDatabase', (cache, _, { params: { slug } }) => storeReplaced(cache, slug, null))
export const useDumpDatabase = createMutationHook('dumpDatabase', (cache, _, { params }) => refetchDumps(cache, params.slug))
export const useRenameDump = createMutationHook('renameDatabaseDump', (cache, _, { params }) => refetchDumps(cache, params.slug))
export const useDeleteDump = createMutationHook('deleteDatabaseDump', (cache) => invalidate(cache, ['dumps'], queryKeys.allDumps, queryKeys.disk))

/** Uploads an SQL file that replaces the database. */
export function useImportDatabase(slug: string, onDone: () => void) {
  const cache = useQueryClient()
  return useUpload('importDatabase', ({ database, dump }) => {
    if (dump.service === null) storeReplaced(cache, slug, database)
    else refetchDumps(cache, slug)
    onDone()
  })
}

/** The previous content was saved in a dump. */
function storeReplaced(cache: QueryClient, slug: string, database: Database | null): void {
  cache.setQueryData(queryKeys.database(slug), database)
  refetchDumps(cache, slug)
}

function refetchDumps(cache: QueryClient, slug: string): void {
  invalidate(cache, queryKeys.dumps(slug), queryKeys.allDumps, queryKeys.disk)
}
