import type { QueryClient } from '@tanstack/react-query'
import { cachedInbox, markInboxRead, reloadInbox } from '../../api/activity.ts'
import type { ApiClient } from '../../api/api-client.ts'
import type { ApiEvent } from '../../../server/client/operation-types.ts'
import { findCachedProject } from '../../api/query-cache.ts'
import { activityPath } from '../../lib/activity-link.ts'
import { toNotification } from './inbox-notifications.ts'
import type { DashboardNotification } from './store.ts'

interface NotificationListenerOptions {
  client: ApiClient
  cache: QueryClient
  /** The signed-in user, whose own changes are no news. */
  myId(): string | undefined
  /** Shows what is new in the inbox. */
  notify(notice: DashboardNotification): void
  /** Whether the user currently sees this path. */
  isVisible(path: string): boolean
}

/** Brings the inbox up to date with the events of an instance's shared stream. What the user sees happen is read at once. */
export function createNotificationListener({
  client,
  cache,
  myId,
  notify,
  isVisible,
}: NotificationListenerOptions): (event: ApiEvent<'followInstance'>) => void {
  return (event) => {
    if (event.event !== 'activity') return
    const { entry } = event.data
    if (entry.actor.user_id !== null && entry.actor.user_id === myId()) return
    const path = activityPath(entry)
    const isSeen = [path, entry.project && `/projects/${entry.project.slug}`].some((one) => one && isVisible(one))
    // Unread ones before it would be marked, too.
    const isRead = isSeen && cachedInbox(cache)?.unread === 0
    const settle = async () => {
      if (isRead) await markInboxRead(client, cache, entry.id).catch(() => undefined)
      await reloadInbox(cache)
      const isNew = !isSeen && cachedInbox(cache)?.entries.some(({ id }) => id === entry.id)
      if (isNew) notify(toNotification(entry, entry.project ? findCachedProject(cache, entry.project.id)?.name : undefined))
    }
    void settle()
  }
}
