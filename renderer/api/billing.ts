import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { pollInterval_ms, useClient } from './queries.ts'

/** Plan, card and subscription. Refetched periodically, because only the payment processor reports late payments. */
export function useBilling() {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.billing,
    queryFn: ({ signal }) => client.call('getBillingStatus', { signal }),
    refetchInterval: 2 * pollInterval_ms,
    staleTime: 1_000,
  })
}
