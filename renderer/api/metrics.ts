import { keepPreviousData } from '@tanstack/react-query'
import type { MetricsRange } from '../../server/contract/metrics.ts'
import { useApiQuery, pollInterval_ms } from './query.ts'
import { queryKeys } from './query-keys.ts'

export const useMetrics = (slug: string, range: MetricsRange) =>
  useApiQuery((client, signal) => client.call('getMetrics', { params: { slug }, query: { range }, signal }), {
    queryKey: queryKeys.metrics(slug, range),
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
    // Keeps the previous range visible while the next one loads, so that the page does not jump.
    placeholderData: keepPreviousData,
  })
