import type { QueryClient } from '@tanstack/react-query'
import type { DeploymentDetail, DeploymentStep } from '../../server/contract/deployments.ts'
import type { ApiClient } from './api-client.ts'
import type { ApiEvent } from '../../server/client/operation-types.ts'
import type { StreamHandlers } from './event-stream.ts'
import { queryKeys } from './query-keys.ts'

export type BuildEvent = ApiEvent<'streamBuildLog'>

/** Follows a deployment until it ends. Step and status events update the cached deployment. Returns a function that stops it. */
export function followBuild(
  client: ApiClient,
  cache: QueryClient,
  params: { slug: string; id: string },
  { onEvents, ...handlers }: StreamHandlers<BuildEvent>,
): () => void {
  const controller = new AbortController()
  const queryKey = queryKeys.deployment(params.slug, params.id)
  client.follow(
    'streamBuildLog',
    { params },
    {
      ...handlers,
      onEvents(events) {
        onEvents(events)
        const changes = events.filter((event) => event.event === 'step' || event.event === 'status')
        if (changes.length > 0) cache.setQueryData<DeploymentDetail>(queryKey, (detail) => detail && changes.reduce(applyChange, detail))
        // Refetches the deployment at the end, because sizes, times and current status are known only to the platform.
        if (events.some((event) => event.event === 'end')) void cache.invalidateQueries({ queryKey })
      },
    },
    { signal: controller.signal, end_event: 'end', pauses_when_hidden: true },
  )
  return () => controller.abort()
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
