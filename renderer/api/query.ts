import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryOptions,
  type UseQueryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import type { ApiClient } from './api-client.ts'
import { useConnection } from '../stores/connection.ts'

/** For data that no event reports. Polled while the page is visible. */
export const pollInterval_ms = 15_000

export function useClient() {
  return useConnection((state) => state.current.client)
}

/** A query to the current instance. */
export function useApiQuery<Data, Selected = Data>(
  load: (client: ApiClient, signal: AbortSignal) => Promise<Data>,
  options: Omit<UseQueryOptions<Data, Error, Selected>, 'queryFn'>,
) {
  const client = useClient()
  return useQuery({ ...options, queryFn: ({ signal }) => load(client, signal) })
}

type PagedOptions<Page> = Omit<
  UseInfiniteQueryOptions<Page, Error, InfiniteData<Page, string | null>, QueryKey, string | null>,
  'queryFn' | 'initialPageParam' | 'getNextPageParam'
>

/** A list that arrives in pages. `page` belongs into the query of the request. */
export function usePagedApiQuery<Page extends { next_cursor: string | null }>(
  load: (client: ApiClient, page: { cursor?: string }, signal: AbortSignal) => Promise<Page>,
  options: PagedOptions<Page>,
) {
  const client = useClient()
  return useInfiniteQuery({
    ...options,
    queryFn: ({ pageParam, signal }) => load(client, pageParam ? { cursor: pageParam } : {}, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  })
}
