import type { DomainEvent } from '../contract/domain-events.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { findActivity } from '../store/activity.ts'
import { findDeploymentById } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import { canAccessProject } from './access.ts'
import { isActivityVisible, presentActivity } from './activity.ts'
import type { Caller } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { presentDeployment, presentProject } from './presenters.ts'
import { findProjectOrDeleted } from '../store/projects.ts'

type ChangeEvent = Extract<DomainEvent, { type: 'deployment_changed' | 'project_changed' | 'activity_recorded' }>

/**
 * Streams changes of all projects that the caller may see, and entries of the activity log. Only IDs are queued, each once, so a slow reader needs little memory and gets
 * the latest state of each.
 */
export async function* streamInstanceEvents(deps: FeatureDeps, caller: Caller, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const changed = new Map<string, ChangeEvent>()
  let wake: (() => void) | undefined
  const wakeReader = () => wake?.()
  const unsubscribe = deps.store.events.subscribe((event) => {
    if (event.type !== 'deployment_changed' && event.type !== 'project_changed' && event.type !== 'activity_recorded') return
    changed.set(`${event.type}:${event.id}`, event)
    wakeReader()
  })
  signal.addEventListener('abort', wakeReader)
  try {
    while (!signal.aborted) {
      if (changed.size === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      const events = [...changed.values()]
      changed.clear()
      for (const event of events) {
        const streamEvent = await deps.store.db.read((tx) => toStreamEvent(tx, caller, event))
        if (streamEvent) yield streamEvent
      }
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wakeReader)
  }
}

function toStreamEvent(tx: Tx, caller: Caller, { type, id }: ChangeEvent): StreamEvent | undefined {
  if (type === 'activity_recorded') {
    const row = findActivity(tx, id)
    return row && isActivityVisible(tx, caller, row) ? { event: 'activity', data: { entry: presentActivity(row) } } : undefined
  }
  const deployment = type === 'deployment_changed' ? findDeploymentById(tx, id) : undefined
  const project = findProjectOrDeleted(tx, deployment?.project_id ?? id)
  if (!project || !canAccessProject(tx, caller, project)) return undefined
  if (project.deleted_at !== null) return { event: 'project_removed', data: { id: project.id, slug: project.slug } }
  if (deployment) return { event: 'deployment', data: { deployment: presentDeployment(tx, deployment) } }
  return { event: 'project', data: { project: presentProject(project) } }
}
