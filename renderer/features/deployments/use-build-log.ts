import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useClient } from '../../api/query.ts'
import { type BuildEvent, followBuild } from '../../api/build-stream.ts'
import type { StreamState } from '../../api/event-stream.ts'
import { createLogStore, type LogLine } from '../logs/index.ts'

/** Streams the build log. */
export function useBuildLog(slug: string, id: string, enabled: boolean) {
  const client = useClient()
  const cache = useQueryClient()
  const store = useMemo(() => createLogStore(), [client, slug, id])
  const [stream, setStream] = useState<StreamState>({ name: 'connecting' })

  useEffect(() => {
    if (!enabled) return
    store.clear()
    return followBuild(client, cache, { slug, id }, { onState: setStream, onEvents: (events) => store.append(events.flatMap(toLogLines)) })
  }, [client, cache, slug, id, store, enabled])

  return { store, stream }
}

function toLogLines({ event, data }: BuildEvent): Omit<LogLine, 'number'>[] {
  if (event === 'log') return [{ text: data.line, source: data.stream, ts: data.ts, group: data.step }]
  if (event !== 'lagged') return []
  return [
    {
      text: `${data.dropped} lines were skipped because they arrived faster than this page could show them`,
      source: 'system',
      ts: null,
      group: null,
    },
  ]
}
