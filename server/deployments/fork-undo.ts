import type { Fork } from '../contract/forks.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { deleteFork, listUnfinishedForks, putFork } from '../store/forks.ts'
import type { ForkRow } from '../store/managed-tables.ts'
import type { DeploymentContext } from './context.ts'
import { nameEnvironment } from './supervised-app.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

/** The content of a completed copy. */
export type CopiedData = Pick<Fork, 'from_branch' | 'volumes' | 'database_bytes' | 'duration_ms' | 'created_at'>

/** The data that a copy replaces, written before anything is replaced. */
export interface ForkUndo {
  runtime: RuntimeName
  /** A volume without a snapshot did not exist. */
  volumes: { name: string; snapshot_id: string | null }[]
  had_database: boolean
  dump_id: string | null
}

/** Restores the data that a failed or interrupted copy was replacing. Can be repeated. */
export async function undoFork(context: DeploymentContext, { project_id, branch, copied, undo }: ForkRow): Promise<void> {
  const before = JSON.parse(undo ?? 'null') as ForkUndo | null
  if (!before) return
  const runtime = context.runtime(before.runtime)
  const snapshots = createVolumeSnapshots(context.data_dir)
  for (const { name, snapshot_id } of before.volumes) {
    const id = `${nameEnvironment({ project_id, branch })}.${name}`
    if (snapshot_id !== null && (await snapshots.restore(runtime, { id, project_id }, snapshot_id))) continue
    if (!(await runtime.removeVolume(id))) throw new Error(`The volume ${id} is in use.`)
  }
  await context.databases.undoFork(project_id, branch, before, new AbortController().signal)
  await context.store.db.write((tx) => {
    if (copied === null) deleteFork(tx, project_id, branch)
    else putFork(tx, { project_id, branch, copied, undo: null })
    tx.publish({ type: 'project_changed', id: project_id })
  })
}

/** Must run before the apps of a runtime start, so that none sees an incomplete copy. `isLast`: what fails is not tried again. */
export async function undoInterruptedForks(context: DeploymentContext, runtime: RuntimeName, isLast: boolean): Promise<void> {
  for (const row of await context.store.db.read(listUnfinishedForks)) {
    if ((JSON.parse(row.undo ?? '{}') as ForkUndo).runtime !== runtime) continue
    try {
      await undoFork(context, row)
      context.log.info('interrupted_fork_reverted', { project: row.project_id, branch: row.branch })
    } catch (error) {
      if (!isLast) throw error
      context.log.error('interrupted_fork_revert_failed', { project: row.project_id, branch: row.branch, error })
    }
  }
}
