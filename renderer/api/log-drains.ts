import type { QueryClient } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Deliveries have no event, because there may be one every second. */
export function useLogDrains(slug: string) {
  const { is_known, has_instance_api } = useCapabilities()
  return useApiQuery((client, signal) => client.call('listLogDrains', { params: { slug }, signal }), {
    queryKey: queryKeys.logDrains(slug),
    enabled: is_known && has_instance_api,
    refetchInterval: pollInterval_ms,
  })
}

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.logDrains(slug))

export const useCreateLogDrain = createMutationHook('createLogDrain', refresh)
export const useUpdateLogDrain = createMutationHook('updateLogDrain', refresh)
export const useDeleteLogDrain = createMutationHook('deleteLogDrain', refresh)
export const useTestLogDrain = createMutationHook('testLogDrain', refresh)
