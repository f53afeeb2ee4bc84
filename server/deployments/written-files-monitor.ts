import { listCurrentDeployments } from '../store/deployments.ts'
import type { DeploymentContext } from './context.ts'
import { getEnvironmentId } from './supervised-app.ts'
import type { Supervisor } from './supervisor.ts'

const interval_ms = 60_000
/** The times after a version became live at which its files are inspected; after the last one, at the same interval. */
const ages_ms = [1, 10, 60, 6 * 60].map((minutes) => minutes * 60_000)

interface Watched {
  deployment_id: string
  inspections: number
  next_at: number
  /** By the monotonic clock. */
  inspected_at: number
}

/** Inspects the live versions of production for files outside of volumes from time to time. A version without visits is not inspected again. */
export function createWrittenFilesMonitor(context: DeploymentContext, supervisor: Pick<Supervisor, 'findEnvironment' | 'inspectFiles'>) {
  const { clock, store, log } = context
  const watched = new Map<string, Watched>()
  let isBusy = false
  let isClosed = false

  const inspectDue = async (): Promise<void> => {
    const now = clock.monotonic()
    const current = (await store.db.read((tx) => listCurrentDeployments(tx))).filter((row) => row.target === 'production')
    const ids = new Set(current.map(getEnvironmentId))
    for (const id of watched.keys()) if (!ids.has(id)) watched.delete(id)
    for (const row of current) {
      const id = getEnvironmentId(row)
      const live = supervisor.findEnvironment(id)
      if (!live || live.spec.deployment_id !== row.id || live.is_asleep || isClosed) continue
      const state = watched.get(id)
      if (state?.deployment_id !== row.id) {
        watched.set(id, { deployment_id: row.id, inspections: 0, next_at: now + (ages_ms[0] ?? 0), inspected_at: -Infinity })
        continue
      }
      const idleSince = context.routes.idleSince(live.spec)
      if (now < state.next_at || (state.inspections > 0 && idleSince !== undefined && idleSince < state.inspected_at)) continue
      state.inspections++
      state.inspected_at = now
      state.next_at = now + (ages_ms[state.inspections] ?? ages_ms.at(-1) ?? 0)
      await supervisor.inspectFiles(id).catch((error: unknown) => log.warn('written_files_check_failed', { deployment: row.id, error }))
    }
  }

  const tick = (): void => {
    timer = clock.setTimeout(tick, interval_ms).unref()
    if (isBusy) return
    isBusy = true
    inspectDue()
      .catch((error: unknown) => log.warn('written_files_check_failed', { error }))
      .finally(() => (isBusy = false))
  }
  let timer = clock.setTimeout(tick, interval_ms).unref()
  return {
    close(): void {
      isClosed = true
      timer.cancel()
    },
  }
}
