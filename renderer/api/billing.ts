import { useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { look_again_ms, useClient } from './queries.ts'

/** Plan, card and subscription. A payment that is late is told by the processor: asked for again while somebody looks. */
export function useBilling() {
  const client = useClient()
  return useQuery({
    queryKey: keys.billing,
    queryFn: ({ signal }) => client.call('getBillingStatus', { signal }),
    refetchInterval: 2 * look_again_ms,
    staleTime: 1_000,
  })
}
