import { useEffect, useState } from 'react'
import type { LoggedRequest } from '../../../server/contract/requests.ts'
import type { StreamState } from '../../api/event-stream.ts'
import { useClient } from '../../api/query.ts'
import { followRequests, type RequestQuery } from '../../api/requests.ts'

/** Requests beyond this many are only in the pages of the list, which a reload brings up to date. */
const maxLive = 2_000

/** The requests after an event, newest first, while `lastEventId` is set. */
export function useLiveRequests(slug: string, filters: RequestQuery, lastEventId: string | undefined) {
  const client = useClient()
  const [requests, setRequests] = useState<LoggedRequest[]>([])
  const [stream, setStream] = useState<StreamState>({ name: 'connecting' })
  const key = JSON.stringify(filters)

  useEffect(() => {
    setRequests([])
    if (lastEventId === undefined) return undefined
    // What ends from now on is newer than any start of the list.
    const { since: _, ...query } = JSON.parse(key) as RequestQuery
    return followRequests(
      client,
      slug,
      { ...query, last_event_id: lastEventId },
      {
        onState: setStream,
        onEvents(events) {
          const added = events.flatMap(({ event, data }) => (event === 'request' ? [data] : [])).reverse()
          if (added.length > 0) setRequests((before) => [...added, ...before].slice(0, maxLive))
        },
      },
    )
  }, [client, slug, key, lastEventId])

  return { requests, stream }
}
