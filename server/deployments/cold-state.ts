import { updatePreview } from '../store/previews.ts'
import { updateProject } from '../store/projects.ts'
import type { DeploymentContext } from './context.ts'
import type { AppSpec } from './supervised-app.ts'

type Slot = Pick<AppSpec, 'project_id' | 'target' | 'branch'>

/** Stores whether a project sleeps, read at the time of the write, so that concurrent writes end with the correct value. */
export const createColdStateWriter =
  (context: DeploymentContext, isAsleep: (slot: Slot) => boolean) =>
  (slot: Slot): void => {
    const { project_id, target, branch } = slot
    context.store.db
      .write((tx) => {
        const is_cold = isAsleep(slot) ? 1 : 0
        if (target === 'production') updateProject(tx, project_id, { is_cold })
        else updatePreview(tx, project_id, branch ?? '', { is_cold })
        tx.publish({ type: 'project_changed', id: project_id })
      })
      .catch((error: unknown) => context.log.warn('sleep_state_store_failed', { project: project_id, error }))
  }
