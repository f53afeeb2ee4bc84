import type { QueryClient } from '@tanstack/react-query'
import type { Database } from '../../server/contract/databases.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useCapabilities } from './capabilities.ts'
import { pollInterval_ms, useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** The version of a project's database, and whether there is a newer one; null without a database. */
export function useDatabaseUpgrade(slug: string) {
  const { is_known, has_instance_api } = useCapabilities()
  return useApiQuery(async (client, signal) => (await client.call('getDatabaseUpgrade', { params: { slug }, signal })).upgrade, {
    queryKey: queryKeys.databaseUpgrade(slug),
    enabled: is_known && has_instance_api,
    refetchInterval: 2 * pollInterval_ms,
    retry: false,
  })
}

const refresh = (cache: QueryClient, answer: { database: Database } | undefined, { params: { slug } }: { params: { slug: string } }): void => {
  if (answer) cache.setQueryData(queryKeys.database(slug), answer.database)
  invalidate(cache, queryKeys.databaseUpgrade(slug), queryKeys.dumps(slug), queryKeys.latest(slug))
}

export const useUpgradeDatabase = createMutationHook('upgradeDatabase', refresh)
export const useRevertUpgrade = createMutationHook('revertDatabaseUpgrade', refresh)
export const useFinishUpgrade = createMutationHook('finishDatabaseUpgrade', (cache, _, input) => refresh(cache, undefined, input))
