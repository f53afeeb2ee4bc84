import { create } from 'zustand'
import { useSession } from '../../stores/session.ts'

/** One item below the bell. */
export interface DashboardNotification {
  /** Identifies the event, so that it is reported once. */
  id: string
  kind: 'done' | 'failed'
  title: string
  text: string
  /** How to resolve it, if the linked page does not say. */
  todo?: string
  /** A permanent state rather than news: it is listed without an unread mark. */
  is_quiet?: boolean
  /** Path below the instance's part of the dashboard. */
  path: string
  at: string
}

interface NotificationList {
  notices: DashboardNotification[]
  unread: number
}

/** What the health checks of instances found. All other notifications come from the activity log of the instance. */
interface HealthNoticeStore {
  /** By instance. */
  lists: Record<string, NotificationList>
  add(instance: string, notice: DashboardNotification): void
  markRead(instance: string): void
}

export const maxNotifications = 50
const emptyList: NotificationList = { notices: [], unread: 0 }
const storageKey = 'homeport.notifications'

export const useHealthNotices = create<HealthNoticeStore>((set) => ({
  lists: parseStoredNotices(readStored()),
  add: (instance, notice) =>
    set(({ lists }) => {
      const { notices, unread } = lists[instance] ?? emptyList
      if (notices.some(({ id }) => id === notice.id)) return {}
      // Unread notifications come first.
      const at = notice.is_quiet ? unread : 0
      const list = {
        notices: notices.toSpliced(at, 0, notice).slice(0, maxNotifications),
        unread: Math.min(maxNotifications, unread + (notice.is_quiet ? 0 : 1)),
      }
      return { lists: { ...lists, [instance]: list } }
    }),
  markRead: (instance) => set(({ lists }) => (lists[instance] ? { lists: { ...lists, [instance]: { ...lists[instance], unread: 0 } } } : {})),
}))

// Survives a reload but not a sign-out, because the next user may be a different person.
useHealthNotices.subscribe(({ lists }) => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(lists))
  } catch {
    // Without storage, notifications last as long as the page.
  }
})
useSession.subscribe(({ signed_out }) => signed_out && useHealthNotices.setState({ lists: {} }))

function readStored(): string | null {
  try {
    return sessionStorage.getItem(storageKey)
  } catch {
    return null
  }
}

/** The lists by the id of their instance. */
export function parseStoredNotices(text: string | null): Record<string, NotificationList> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    const lists = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(lists.filter((entry): entry is [string, NotificationList] => isNotificationList(entry[1])))
  } catch {
    return {}
  }
}

/** Another version of the dashboard may have stored a different shape. */
function isNotificationList(value: Partial<NotificationList> | null): value is NotificationList {
  return (
    typeof value?.unread === 'number' &&
    Array.isArray(value.notices) &&
    value.notices.every((one) => [one?.id, one?.title, one?.text, one?.path, one?.at].every((part) => typeof part === 'string'))
  )
}

export const healthNoticesOf = (lists: Record<string, NotificationList>, instance: string): NotificationList => lists[instance] ?? emptyList
