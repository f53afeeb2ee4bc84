import { keepPreviousData } from '@tanstack/react-query'
import type { MetricsRange } from '../../server/contract/metrics.ts'
import { type HistoryRange, metricsBuckets } from '../../server/contract/metrics-ranges.ts'
import type { MetricsHistory, RouteSort } from '../../server/contract/project-metrics.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { useApiQuery, pollInterval_ms } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** While the range is `live`. */
const livePollInterval_ms = 3_000

export const useMetrics = (slug: string, range: MetricsRange) =>
  useApiQuery((client, signal) => client.call('getMetrics', { params: { slug }, query: { range }, signal }), {
    queryKey: queryKeys.metrics(slug, range),
    refetchInterval: pollInterval_ms,
    staleTime: 1_000,
  })

/** Metrics in the range that was chosen, or in the shortest one that has all data. */
export function useMetricsHistory(slug: string, range: HistoryRange | undefined) {
  const { is_known, has_instance_api } = useCapabilities()
  return useApiQuery(
    (client, signal) =>
      has_instance_api
        ? client.call('getProjectMetrics', { params: { slug }, query: range === undefined ? {} : { range }, signal })
        : loadHostedMetrics(client, slug, range, signal),
    {
      queryKey: queryKeys.metricsHistory(slug, range),
      enabled: is_known,
      refetchInterval: ({ state }) => (state.data?.range === 'live' ? livePollInterval_ms : pollInterval_ms),
      staleTime: 1_000,
      // Keeps the previous range visible while the next one loads, so that the page does not jump.
      placeholderData: keepPreviousData,
    },
  )
}

/** A hosted account has the ranges of the /v1 API. */
async function loadHostedMetrics(client: ApiClient, slug: string, range: HistoryRange | undefined, signal: AbortSignal): Promise<MetricsHistory> {
  const known = range !== undefined && isMetricsRange(range) ? range : '24h'
  const metrics = await client.call('getMetrics', { params: { slug }, query: { range: known }, signal })
  return { ...metrics, first_at: null, usage: [], deployments: [] }
}

export const isMetricsRange = (range: HistoryRange): range is MetricsRange => range in metricsBuckets

/** Routes with their figures, computed from the request log. */
export const useRoutes = (slug: string, range: HistoryRange, sort: RouteSort) =>
  useApiQuery((client, signal) => client.call('listRoutes', { params: { slug }, query: { range, sort }, signal }), {
    queryKey: queryKeys.routes(slug, range, sort),
    refetchInterval: 4 * pollInterval_ms,
    staleTime: 1_000,
    placeholderData: keepPreviousData,
  })
