import { Bell, CircleAlert, CircleCheck, Info } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { IconButton } from '../../components/button.tsx'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { getPortalContainer } from '../../components/menu.tsx'
import { RelativeTime } from '../../components/time.tsx'
import type { DashboardNotification } from './store.ts'
import { useNotificationList } from './use-notifications.ts'
import styles from './notification-bell.module.css'

/** Notifications about events in the background, with links. */
export function NotificationBell({ align }: { align: 'start' | 'end' }) {
  const { notices, unread: unreadIds, markRead } = useNotificationList()
  const unread = unreadIds.size
  const [isOpen, setOpen] = useState(false)
  const [, navigate] = useLocation()
  const onOpenChange = (open: boolean) => {
    setOpen(open)
    if (!open) markRead()
  }
  return (
    <DropdownMenu.Root modal={false} open={isOpen} onOpenChange={onOpenChange}>
      <span className={styles.bell}>
        <DropdownMenu.Trigger asChild>
          <IconButton icon={Bell} label={unread > 0 ? `Notifications: ${unread} new` : 'Notifications'} />
        </DropdownMenu.Trigger>
        {unread > 0 && (
          <span className={styles.bellCount} aria-hidden>
            {unread > 9 ? '9+' : unread}
          </span>
        )}
      </span>
      <DropdownMenu.Portal container={getPortalContainer()}>
        <DropdownMenu.Content className={`menu ${styles.notifications}`} align={align} sideOffset={6} collisionPadding={8} aria-label="Notifications">
          {notices.length === 0 && (
            <DropdownMenu.Item disabled className={`${styles.notificationsEmpty} text-muted`}>
              No notifications. Updates about deployments, crashes, domains, previews and this instance’s health appear here.
            </DropdownMenu.Item>
          )}
          {notices.map((notice) => (
            <DropdownMenu.Item
              key={notice.id}
              className={`menu-item ${styles.notification} ${styles[`notification-${notice.is_quiet ? 'quiet' : notice.kind}`]} ${unreadIds.has(notice.id) ? styles.notificationNew : ''}`}
              onSelect={() => navigate(notice.path)}
            >
              <NotificationIcon notice={notice} />
              <span className={styles.notificationBody}>
                <strong className="truncate">{sanitizeForDisplay(notice.title)}</strong>
                <span className={`text-muted ${styles.notificationText}`}>{sanitizeForDisplay(notice.text)}</span>
                {notice.todo && <span className={styles.notificationAction}>{sanitizeForDisplay(notice.todo)}</span>}
                <span className="text-subtle">
                  <RelativeTime at={notice.at} />
                  {unreadIds.has(notice.id) && <span className="visually-hidden">, new</span>}
                </span>
              </span>
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function NotificationIcon({ notice: { kind, is_quiet } }: { notice: DashboardNotification }) {
  const Icon = is_quiet ? Info : kind === 'done' ? CircleCheck : CircleAlert
  return <Icon size={16} aria-hidden />
}

/** Announces new notifications to screen readers once, regardless of the number of bells. */
export function NotificationAnnouncer() {
  const { notices, unread } = useNotificationList()
  const newest = notices.find(({ id }) => unread.has(id))?.title
  return (
    <p className="visually-hidden" role="status">
      {newest && sanitizeForDisplay(newest)}
    </p>
  )
}
