import { useMemo } from 'react'
import type { EventOf } from '../../api/client.ts'
import { baseOf } from '../../stores/address.ts'
import type { Connection } from '../../stores/connection.ts'
import { createListener } from './listen.ts'
import { useNotices } from './store.ts'

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
