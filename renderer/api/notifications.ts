import type { QueryClient } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useApiQuery, usePagedApiQuery } from './query.ts'
import { queryKeys } from './query-keys.ts'

/** Targets of a project, or of the account for null. */
export function useNotificationTargets(slug: string | null) {
  const { is_known, has_instance_api } = useCapabilities()
  return useApiQuery(
    (client, signal) =>
      slug === null
        ? client.call('listAccountNotificationTargets', { signal })
        : client.call('listNotificationTargets', { params: { slug }, signal }),
    { queryKey: queryKeys.notificationTargets(slug), enabled: is_known && has_instance_api },
  )
}

/** Newest first. Polled, and more often while one is pending, because no event reports them. */
export function useNotificationDeliveries(slug: string | null) {
  const { is_known, has_instance_api } = useCapabilities()
  return usePagedApiQuery(
    (client, page, signal) =>
      slug === null
        ? client.call('listAccountNotificationDeliveries', { query: { limit: '20', ...page }, signal })
        : client.call('listNotificationDeliveries', { params: { slug }, query: { limit: '20', ...page }, signal }),
    {
      queryKey: queryKeys.notificationDeliveries(slug),
      enabled: is_known && has_instance_api,
      refetchInterval: ({ state }) =>
        state.data?.pages.some(({ deliveries }) => deliveries.some(({ status, attempts }) => status === 'pending' && attempts.length === 0))
          ? 1_000
          : pollInterval_ms,
    },
  )
}

const refresh = (cache: QueryClient, slug: string | null): void =>
  invalidate(cache, queryKeys.notificationTargets(slug), queryKeys.notificationDeliveries(slug))
const ofProject = (cache: QueryClient, _: unknown, { params }: { params: { slug: string } }): void => refresh(cache, params.slug)
const ofAccount = (cache: QueryClient): void => refresh(cache, null)

export const useCreateNotificationTarget = createMutationHook('createNotificationTarget', ofProject)
export const useUpdateNotificationTarget = createMutationHook('updateNotificationTarget', ofProject)
export const useDeleteNotificationTarget = createMutationHook('deleteNotificationTarget', ofProject)
export const useTestNotificationTarget = createMutationHook('testNotificationTarget', ofProject)
export const useRedeliverNotification = createMutationHook('redeliverNotification', ofProject)
export const useCreateAccountNotificationTarget = createMutationHook('createAccountNotificationTarget', ofAccount)
export const useUpdateAccountNotificationTarget = createMutationHook('updateAccountNotificationTarget', ofAccount)
export const useDeleteAccountNotificationTarget = createMutationHook('deleteAccountNotificationTarget', ofAccount)
export const useTestAccountNotificationTarget = createMutationHook('testAccountNotificationTarget', ofAccount)
export const useRedeliverAccountNotification = createMutationHook('redeliverAccountNotification', ofAccount)
