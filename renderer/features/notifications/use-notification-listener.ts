import { useEffect, useMemo } from 'react'
import { useInstanceSession } from '../../api/instance.ts'
import { queryKeys } from '../../api/query-keys.ts'
import type { ApiEvent, CallOutput } from '../../../server/client/operation-types.ts'
import { instanceBasePath } from '../../lib/instance-path.ts'
import type { InstanceConnection } from '../../stores/connection.ts'
import { showBrowserNotification } from '../../stores/browser-notifications.ts'
import { createNotificationListener } from './notification-listener.ts'
import { loadWithRetry } from '../../lib/load-with-retry.ts'
import { healthNoticesOf, useHealthNotices } from './store.ts'

/** Keeps the inbox of the current instance up to date. */
export function useNotificationListener({ id, client, cache }: InstanceConnection): (event: ApiEvent<'followInstance'>) => void {
  return useMemo(
    () =>
      createNotificationListener({
        client,
        cache,
        myId: () => cache.getQueryData<CallOutput<'getSession'>>(queryKeys.session)?.user.id,
        notify: (notice) => showBrowserNotification(notice, `${instanceBasePath(id)}${notice.path}`),
        isVisible: (path) => document.visibilityState === 'visible' && location.pathname === `${instanceBasePath(id)}${path}`,
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
          startHealthMonitor(client, healthNoticesOf(useHealthNotices.getState().lists, id).notices, (notice) =>
            useHealthNotices.getState().add(id, notice),
          ),
        )
      })
      .catch(() => undefined)
    return () => controller.abort()
  }, [id, client, isOwner])
}
