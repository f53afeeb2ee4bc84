import { useQuery } from '@tanstack/react-query'
import type { CallInput, CallOutput } from '../../server/client/operation-types.ts'
import { useCapabilities } from './capabilities.ts'
import { pollInterval_ms, useClient, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Filters as the query of an address has them. */
export type TraceQuery = Omit<NonNullable<CallInput<'listTraces'>['query']>, 'limit' | 'cursor'>
export type TraceView = CallOutput<'getTrace'>

/** The traces of a project, in pages. */
export const useTraces = (slug: string, filters: TraceQuery) =>
  usePagedApiQuery((client, page, signal) => client.call('listTraces', { params: { slug }, query: { ...filters, limit: '100', ...page }, signal }), {
    queryKey: queryKeys.traces(slug, filters),
    enabled: useCapabilities().has_instance_api,
    gcTime: 0,
    refetchInterval: pollInterval_ms,
  })

/** Spans of a trace may still arrive. */
export function useTrace(slug: string, trace_id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.trace(slug, trace_id),
    queryFn: ({ signal }) => client.call('getTrace', { params: { slug, trace_id }, signal }),
  })
}

export function useTraceSpan(slug: string, trace_id: string, span_id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.traceSpan(slug, trace_id, span_id),
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await client.call('getTraceSpan', { params: { slug, trace_id, span_id }, signal })).span,
  })
}
