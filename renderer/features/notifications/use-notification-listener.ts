import { useEffect, useMemo } from 'react'
import { useInstanceSession } from '../../api/instance.ts'
import type { ApiEvent } from '../../../server/client/operation-types.ts'
import { instanceBasePath } from '../../lib/instance-path.ts'
import type { InstanceConnection } from '../../stores/connection.ts'
import { showBrowserNotification } from '../../stores/browser-notifications.ts'
import { createNotificationListener } from './notification-listener.ts'
import { loadWithRetry } from '../../lib/load-with-retry.ts'
import { notificationsOf, useNotifications } from './store.ts'

/** Notifies about events of the current instance. */
export function useNotificationListener({ id, client, cache }: InstanceConnection): (event: ApiEvent<'followInstance'>) => void {
  return useMemo(
    () =>
      createNotificationListener({
        client,
        cache,
        notify(notice) {
          useNotifications.getState().add(id, notice)
          showBrowserNotification(notice, `${instanceBasePath(id)}${notice.path}`)
        },
        isVisible: (path) => document.visibilityState === 'visible' && location.pathname === `${instanceBasePath(id)}${path}`,
        now: Date.now,
      }),
    [id, client, cache],
  )
}

/** Notifies the owner about the health of the current instance. */
export function useHealthNotifications({ id, client }: InstanceConnection): void {
  const isOwner = useInstanceSession().data?.user.is_instance_owner === true
  useEffect(() => {
    if (!isOwner) return undefined
    const controller = new AbortController()
    // Loaded lazily, because it is not needed for the first render.
    void loadWithRetry(() => import('./health-monitor.ts'))
      .then(({ startHealthMonitor }) => {
        if (controller.signal.aborted) return
        controller.signal.addEventListener(
          'abort',
          startHealthMonitor(client, notificationsOf(useNotifications.getState().lists, id).notices, (notice) =>
            useNotifications.getState().add(id, notice),
          ),
        )
      })
      .catch(() => undefined)
    return () => controller.abort()
  }, [id, client, isOwner])
}
