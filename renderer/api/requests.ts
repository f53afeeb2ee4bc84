import { useQuery } from '@tanstack/react-query'
import type { ApiEvent, CallInput, CallOutput } from '../../server/client/operation-types.ts'
import { limits } from '../../server/contract/limits.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import { useCapabilities } from './capabilities.ts'
import type { ApiClient } from './api-client.ts'
import type { StreamHandlers } from './event-stream.ts'
import { useClient, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Filters as the query of an address has them. */
export type RequestQuery = Omit<NonNullable<CallInput<'listRequests'>['query']>, 'limit' | 'cursor'>

/** The request log of a project, in pages. */
export const useRequests = (slug: string, filters: RequestQuery) =>
  usePagedApiQuery(
    (client, page, signal) => client.call('listRequests', { params: { slug }, query: { ...filters, limit: '100', ...page }, signal }),
    { queryKey: queryKeys.requests(slug, filters), enabled: useCapabilities().has_instance_api, gcTime: 0 },
  )

/** A logged request never changes. */
export function useLoggedRequest(id: string) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.request(id),
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await client.call('getRequest', { params: { id }, signal })).request,
  })
}

/** Loads the newest requests that match, oldest first, up to the number that a file may have. */
export async function loadRequests(client: ApiClient, slug: string, filters: RequestQuery): Promise<LoggedRequest[]> {
  const found: LoggedRequest[] = []
  let cursor: string | null = null
  do {
    const query = { ...filters, limit: String(limits.page.max), ...(cursor !== null && { cursor }) }
    const page: CallOutput<'listRequests'> = await client.call('listRequests', { params: { slug }, query })
    found.push(...page.requests)
    cursor = page.next_cursor
  } while (cursor !== null && found.length < limits.request_log.exported)
  return found.reverse()
}

/** Follows the requests after an event. Returns a function that stops it. */
export function followRequests(
  client: ApiClient,
  slug: string,
  query: RequestQuery & { last_event_id: string },
  handlers: StreamHandlers<ApiEvent<'streamRequests'>>,
): () => void {
  const controller = new AbortController()
  client.follow('streamRequests', { params: { slug }, query }, handlers, { signal: controller.signal, pauses_when_hidden: true })
  return () => controller.abort()
}
