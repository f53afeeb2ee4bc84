import { useApiQuery, pollInterval_ms } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { createMutationHook, invalidate } from './mutation.ts'

/** Plan, card and subscription. Refetched periodically, because only the payment processor reports late payments. */
export const useBilling = () =>
  useApiQuery((client, signal) => client.call('getBillingStatus', { signal }), {
    queryKey: queryKeys.billing,
    refetchInterval: 2 * pollInterval_ms,
    staleTime: 1_000,
  })

export const useCreateSetupIntent = createMutationHook('createSetupIntent')
/** Chooses plan and billing interval. */
export const useConfirmBilling = createMutationHook('confirmBilling', (cache) => invalidate(cache, queryKeys.billing, queryKeys.session))
export const useCancelBilling = createMutationHook('cancelBilling', (cache) => invalidate(cache, queryKeys.billing))
