import { useQueryClient } from '@tanstack/react-query'
import { markInboxRead, useActivityInbox } from '../../api/activity.ts'
import { findCachedProject } from '../../api/query-cache.ts'
import { useConnection } from '../../stores/connection.ts'
import { toNotification } from './inbox-notifications.ts'
import { type DashboardNotification, healthNoticesOf, useHealthNotices } from './store.ts'

export interface NotificationList {
  notices: DashboardNotification[]
  /** IDs of those that are unread. */
  unread: ReadonlySet<string>
  markRead(): void
}

/** The notifications of the current instance, newest first: the user's inbox there, and the health of the instance as this browser has seen it. */
export function useNotificationList(): NotificationList {
  const { id, client } = useConnection((state) => state.current)
  const cache = useQueryClient()
  const { data: inbox } = useActivityInbox()
  const health = useHealthNotices(({ lists }) => healthNoticesOf(lists, id))
  const markHealthRead = useHealthNotices((state) => state.markRead)
  const entries = inbox?.entries ?? []
  const ofInbox = entries.map((entry) => toNotification(entry, entry.project ? findCachedProject(cache, entry.project.id)?.name : undefined))
  const unread = new Set([
    ...ofInbox.slice(0, inbox?.unread ?? 0).map((notice) => notice.id),
    ...health.notices.slice(0, health.unread).map((notice) => notice.id),
  ])
  return {
    notices: [...ofInbox, ...health.notices].toSorted((a, b) => Number(unread.has(b.id)) - Number(unread.has(a.id)) || (a.at < b.at ? 1 : -1)),
    unread,
    markRead() {
      markHealthRead(id)
      if (inbox && inbox.unread > 0 && entries[0]) void markInboxRead(client, cache, entries[0].id).catch(() => undefined)
    },
  }
}
