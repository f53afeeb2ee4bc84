import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { pollInterval_ms, useClient } from './queries.ts'

/** Plan, card and subscription. A payment that is late is told by the processor: asked for again while somebody looks. */
export function useBilling() {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.billing,
    queryFn: ({ signal }) => client.call('getBillingStatus', { signal }),
    refetchInterval: 2 * pollInterval_ms,
    staleTime: 1_000,
  })
}
