import type { QueryClient } from '@tanstack/react-query'
import type { ClusterNode } from '../../server/contract/nodes.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

const pollInterval_ms = 5_000
/** While replicas move. */
const fastPollInterval_ms = 1_000

const isChanging = ({ availability, replicas }: ClusterNode): boolean =>
  availability === 'draining' || replicas.some(({ state }) => state !== 'running')

/** The nodes of the cluster, and what runs on each; none for an instance that runs apps on one machine. Owner only. */
export const useNodes = () =>
  useApiQuery(async (client, signal) => (await client.call('listNodes', { signal })).nodes, {
    queryKey: queryKeys.nodes,
    refetchInterval: ({ state }: { state: { data?: ClusterNode[] | undefined } }) =>
      state.data?.some(isChanging) ? fastPollInterval_ms : pollInterval_ms,
  })

/** The machines that keep a copy of this instance. Owner only. */
export const useStandbys = () =>
  useApiQuery(async (client, signal) => (await client.call('listStandbys', { signal })).standbys, {
    queryKey: queryKeys.standbys,
    refetchInterval: pollInterval_ms,
  })

const refetchNodes = (cache: QueryClient) => invalidate(cache, queryKeys.nodes)
export const useUpdateNode = createMutationHook('updateNode', refetchNodes)
export const useRemoveNode = createMutationHook('removeNode', refetchNodes)
export const useBalanceNodes = createMutationHook('balanceNodes', refetchNodes)
export const useCreateJoinToken = createMutationHook('createJoinToken')
