import { create } from 'zustand'
import { useSession } from '../../stores/session.ts'

/** Something that ended while the person in front looked at something else. */
export interface DashboardNotification {
  /** What happened to what: the same thing is told once. */
  id: string
  kind: 'done' | 'failed'
  title: string
  text: string
  /** What to do about it, where the place that it leads to does not say. */
  todo?: string
  /** How things stand, and not news: it lies in the bell without ringing it. */
  is_quiet?: boolean
  /** Below the dashboard's address of its instance. */
  path: string
  at: string
}

interface NotificationList {
  notices: DashboardNotification[]
  unread: number
}

interface NotificationStore {
  /** By instance. */
  lists: Record<string, NotificationList>
  add(instance: string, notice: DashboardNotification): void
  markRead(instance: string): void
}

export const maxNotifications = 50
const emptyList: NotificationList = { notices: [], unread: 0 }
const storageKey = 'homeport.notifications'

export const useNotifications = create<NotificationStore>((set) => ({
  lists: readStored(),
  add: (instance, notice) =>
    set(({ lists }) => {
      const { notices, unread } = lists[instance] ?? emptyList
      if (notices.some(({ id }) => id === notice.id)) return {}
      // What is new stands on top, whatever came after it.
      const at = notice.is_quiet ? unread : 0
      const list = {
        notices: notices.toSpliced(at, 0, notice).slice(0, maxNotifications),
        unread: Math.min(maxNotifications, unread + (notice.is_quiet ? 0 : 1)),
      }
      return { lists: { ...lists, [instance]: list } }
    }),
  markRead: (instance) => set(({ lists }) => (lists[instance] ? { lists: { ...lists, [instance]: { ...lists[instance], unread: 0 } } } : {})),
}))

// A reload of the window keeps them; signing out does not, because the next person may be another one.
useNotifications.subscribe(({ lists }) => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(lists))
  } catch {
    // A browser that stores nothing keeps them as long as the page.
  }
})
useSession.subscribe(({ signed_out }) => signed_out && useNotifications.setState({ lists: {} }))

function readStored(): Record<string, NotificationList> {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}')
    const lists = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(lists.filter((entry): entry is [string, NotificationList] => isNotificationList(entry[1])))
  } catch {
    return {}
  }
}

/** What another version of the dashboard stored may have another shape. */
function isNotificationList(value: Partial<NotificationList> | null): value is NotificationList {
  return (
    typeof value?.unread === 'number' &&
    Array.isArray(value.notices) &&
    value.notices.every((one) => [one?.id, one?.title, one?.text, one?.path, one?.at].every((part) => typeof part === 'string'))
  )
}

export const notificationsOf = (lists: Record<string, NotificationList>, instance: string): NotificationList => lists[instance] ?? emptyList
