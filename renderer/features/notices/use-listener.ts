import { useEffect, useMemo } from 'react'
import type { EventOf } from '../../api/client.ts'
import { useInstance } from '../../api/queries.ts'
import { baseOf } from '../../stores/address.ts'
import type { Connection } from '../../stores/connection.ts'
import { createListener } from './listen.ts'
import { loadPart } from '../../ui/load-part.ts'
import { boardOf, useNotices } from './store.ts'

/** The ear of the instance in front. */
export function useNoticeListener({ id, client, cache }: Connection): (event: EventOf<'followInstance'>) => void {
  return useMemo(
    () =>
      createListener({
        client,
        cache,
        tell: (notice) => useNotices.getState().tell(id, notice),
        isSeen: (path) => document.visibilityState === 'visible' && location.pathname === `${baseOf(id)}${path}`,
        now: Date.now,
      }),
    [id, client, cache],
  )
}

/** What the instance in front has to say of itself; to its owner alone. */
export function useHealthNotices({ id, client }: Connection): void {
  const isOwner = useInstance().data?.user.is_instance_owner === true
  useEffect(() => {
    if (!isOwner) return undefined
    const stopped = new AbortController()
    // Nobody waits for it: it has no place in the first screen.
    void loadPart(() => import('./health.ts'))
      .then(({ watchHealth }) => {
        if (stopped.signal.aborted) return
        stopped.signal.addEventListener(
          'abort',
          watchHealth(client, boardOf(useNotices.getState().boards, id).notices, (notice) => useNotices.getState().tell(id, notice)),
        )
      })
      .catch(() => undefined)
    return () => stopped.abort()
  }, [id, client, isOwner])
}
