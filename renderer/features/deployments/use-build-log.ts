import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { DeploymentDetail, DeploymentStep } from '../../../server/contract/deployments.ts'
import type { StreamEvent } from '../../api/api-client.ts'
import type { StreamState } from '../../api/event-stream.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useClient } from '../../api/queries.ts'
import { createLogStore, type LogLine } from '../logs/index.ts'

/** Streams the build log. Step and status events update the cached deployment. */
export function useBuildLog(slug: string, id: string, enabled: boolean) {
  const client = useClient()
  const cache = useQueryClient()
  const store = useMemo(() => createLogStore(), [client, slug, id])
  const [stream, setStream] = useState<StreamState>({ name: 'connecting' })

  useEffect(() => {
    if (!enabled) return
    const controller = new AbortController()
    const key = queryKeys.deployment(slug, id)
    store.clear()
    client.follow(
      'streamBuildLog',
      { params: { slug, id } },
      {
        onState: setStream,
        onEvents(events) {
          store.append(events.flatMap(toLogLines))
          const changes = events.filter((event) => event.event === 'step' || event.event === 'status')
          if (changes.length > 0) cache.setQueryData<DeploymentDetail>(key, (detail) => detail && changes.reduce(applyChange, detail))
          // Refetches the deployment at the end, because sizes, times and current status are known only to the platform.
          if (events.some((event) => event.event === 'end')) void cache.invalidateQueries({ queryKey: key })
        },
      },
      { signal: controller.signal, end_event: 'end', pauses_when_hidden: true },
    )
    return () => controller.abort()
  }, [client, cache, slug, id, store, enabled])

  return { store, stream }
}

type BuildEvent = StreamEvent<'streamBuildLog'>

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

function applyChange(detail: DeploymentDetail, { event, data }: BuildEvent): DeploymentDetail {
  if (event === 'status') return { ...detail, status: data.status, error: data.error ?? detail.error }
  if (event !== 'step') return detail
  return { ...detail, steps: detail.steps.map((step) => (step.name === data.name ? advanceStep(step, data) : step)) }
}

function advanceStep(step: DeploymentStep, change: { status: DeploymentStep['status']; ts: string }): DeploymentStep {
  // Reconnecting replays old events, so a finished step is not set back.
  if (step.finished_at !== null) return step
  const started_at = step.started_at ?? (change.status === 'running' ? change.ts : null)
  const ended = change.status === 'done' || change.status === 'failed' || change.status === 'canceled'
  return { ...step, status: change.status, started_at, finished_at: ended ? change.ts : null }
}
