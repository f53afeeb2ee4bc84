import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { MetricsRange } from '../../server/contract/metrics.ts'
import { queryKeys } from './query-keys.ts'
import { pollInterval_ms, useClient } from './use-client.ts'

export function useMetrics(slug: string, range: MetricsRange) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.metrics(slug, range),
    queryFn: ({ signal }) => client.call('getMetrics', { params: { slug }, query: { range }, signal }),
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
    // Keeps the previous range visible while the next one loads, so that the page does not jump.
    placeholderData: keepPreviousData,
  })
}
