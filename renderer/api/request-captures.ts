import type { QueryClient } from '@tanstack/react-query'
import { limits } from '../../server/contract/limits.ts'
import type { CapturedExchange } from '../../server/contract/request-captures.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Whether requests of a project are captured. Capture ends at its time without an event, so it is polled while it is on. */
export const useRequestCapture = (slug: string) =>
  useApiQuery(async (client, signal) => (await client.call('getRequestCapture', { params: { slug }, signal })).capture, {
    queryKey: queryKeys.requestCapture(slug),
    enabled: useCapabilities().has_instance_api,
    refetchInterval: ({ state }) => (state.data?.until ? pollInterval_ms : false),
  })

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.requestCapture(slug))

export const useStartRequestCapture = createMutationHook('startRequestCapture', refresh)
export const useStopRequestCapture = createMutationHook('stopRequestCapture', (cache, answer, input) => {
  refresh(cache, answer, input)
  if (input.query?.captured === 'delete') cache.removeQueries({ queryKey: queryKeys.capturedRequests(input.params.slug) })
})

/** The headers and bodies of a request; null if they are not kept. */
export const useCapturedRequest = (slug: string, id: string, enabled: boolean) =>
  useApiQuery(async (client, signal) => (await client.call('getCapturedRequest', { params: { slug, id }, signal })).captured, {
    queryKey: [...queryKeys.capturedRequests(slug), id],
    enabled,
  })

export const useReplayRequest = createMutationHook('replayRequest')

/** The headers and bodies of the newest captured requests of a list, by their IDs. */
export async function loadCaptures(client: ApiClient, slug: string, requests: readonly LoggedRequest[]): Promise<Map<string, CapturedExchange>> {
  const captures = new Map<string, CapturedExchange>()
  for (const { id } of requests.filter(({ is_captured }) => is_captured).slice(-limits.request_capture.exported)) {
    const { captured } = await client.call('getCapturedRequest', { params: { slug, id } })
    if (captured) captures.set(id, captured)
  }
  return captures
}
