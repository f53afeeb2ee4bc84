import { useQuery } from '@tanstack/react-query'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useClient } from './use-client.ts'

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

export const useCreateSetupIntent = createMutationHook('createSetupIntent')
/** Chooses plan and billing interval. */
export const useConfirmBilling = createMutationHook('confirmBilling', (cache) => invalidate(cache, queryKeys.billing, queryKeys.session))
export const useCancelBilling = createMutationHook('cancelBilling', (cache) => invalidate(cache, queryKeys.billing))
