import type { QueryClient } from '@tanstack/react-query'
import type { CallInput, CallOutput } from '../../server/client/operation-types.ts'
import type { ApiClient } from './api-client.ts'
import { useCapabilities } from './capabilities.ts'
import { useApiQuery, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Filters as the query of an address has them. */
export type ActivityQuery = Pick<NonNullable<CallInput<'listActivity'>['query']>, 'project' | 'actor' | 'action'>
type Inbox = CallOutput<'getActivityInbox'>

/** Changes of one project, or of all. */
export const useActivity = (slug: string | undefined, filters: ActivityQuery) =>
  usePagedApiQuery(
    (client, page, signal) =>
      slug === undefined
        ? client.call('listActivity', { query: { ...filters, ...page }, signal })
        : client.call('listProjectActivity', { params: { slug }, query: { ...filters, ...page }, signal }),
    { queryKey: queryKeys.activity(slug ?? null, filters), enabled: useCapabilities().has_instance_api },
  )

/** The notifications of the user, which are the same in every browser. */
export const useActivityInbox = () =>
  useApiQuery((client, signal) => client.call('getActivityInbox', { signal }), {
    queryKey: queryKeys.activityInbox,
    enabled: useCapabilities().has_instance_api,
    retry: false,
  })

export const cachedInbox = (cache: QueryClient): Inbox | undefined => cache.getQueryData<Inbox>(queryKeys.activityInbox)

export const reloadInbox = (cache: QueryClient): Promise<void> => cache.invalidateQueries({ queryKey: queryKeys.activityInbox })

/** Marks all notifications up to this one as read, in every browser of the user. */
export async function markInboxRead(client: ApiClient, cache: QueryClient, id: string): Promise<void> {
  cache.setQueryData<Inbox>(queryKeys.activityInbox, (inbox) => inbox && { ...inbox, unread: 0 })
  await client.call('markActivityRead', { body: { id } })
}
