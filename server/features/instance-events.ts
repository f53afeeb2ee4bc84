import type { StreamEvent } from '../contract/operation.ts'
import { findDeploymentById } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import { canAccessAccount } from './access.ts'
import type { Caller } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { presentDeployment, presentProject } from './presenters.ts'

/**
 * Everything that the caller may see, as it changes. Only names wait here, each once, so a slow reader costs nothing and
 * gets the newest state of each.
 */
export async function* streamInstanceEvents(deps: FeatureDeps, caller: Caller, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const changed = new Set<string>()
  let wake: (() => void) | undefined
  const wakeReader = () => wake?.()
  const unsubscribe = deps.bus.onAny((name) => {
    if (name.startsWith('log:')) return
    changed.add(name)
    wakeReader()
  })
  signal.addEventListener('abort', wakeReader)
  try {
    while (!signal.aborted) {
      if (changed.size === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      const names = [...changed]
      changed.clear()
      for (const name of names) {
        const event = await deps.store.db.read((tx) => toStreamEvent(tx, caller, name))
        if (event) yield event
      }
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', wakeReader)
  }
}

function toStreamEvent(tx: Tx, caller: Caller, name: string): StreamEvent | undefined {
  const [kind, id = ''] = name.split(':')
  const deployment = kind === 'deployment' ? findDeploymentById(tx, id) : undefined
  const project = tx.sqlFirst<ProjectRow>('SELECT * FROM projects WHERE id = ?', deployment?.project_id ?? id)
  if (!project || !canAccessAccount(tx, caller, project.account_id)) return undefined
  if (project.deleted_at !== null) return { event: 'project_removed', data: { id: project.id, slug: project.slug } }
  if (deployment) return { event: 'deployment', data: { deployment: presentDeployment(tx, deployment) } }
  return { event: 'project', data: { project: presentProject(project) } }
}
