import type { QueryClient } from '@tanstack/react-query'
import { cachedInbox, markInboxRead, reloadInbox } from '../../api/activity.ts'
import type { ApiClient } from '../../api/api-client.ts'
import type { ApiEvent } from '../../../server/client/operation-types.ts'
import { activityPath } from '../../lib/activity-link.ts'

interface NotificationListenerOptions {
  client: ApiClient
  cache: QueryClient
  /** The signed-in user, whose own changes are no news. */
  myId(): string | undefined
  /** Whether the user currently sees this path. */
  isVisible(path: string): boolean
}

/** Brings the inbox up to date with the events of an instance's shared stream. What the user sees happen is read at once. */
export function createNotificationListener({
  client,
  cache,
  myId,
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
    void (isRead ? markInboxRead(client, cache, entry.id) : Promise.resolve()).catch(() => undefined).then(() => reloadInbox(cache))
  }
}
