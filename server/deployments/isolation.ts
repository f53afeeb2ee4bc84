import { Problem } from '../contract/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Tx } from '../store/store.ts'
import { findInstanceOwner } from '../store/users.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { SourceRef } from './source-ref.ts'

/**
 * Accounts other than that of the instance's owner deploy only on runtimes that isolate apps from this machine, and never from a folder
 * of this machine. Each new deployment is checked here, and each start of an app, because it may have been deployed before this rule.
 */
export function requireIsolation(tx: Tx, project: ProjectRow, runtime: Pick<Runtime, 'isolates'>, source?: SourceRef): void {
  if (project.account_id === findInstanceOwner(tx)?.account_id) return
  const isFolder = source?.kind === 'folder' || source?.kind === 'snapshot' || (source?.kind === 'git' && source.url.startsWith('file:'))
  if (isFolder)
    throw new Problem(
      'runtime_not_isolated',
      'Only projects of the account that owns this instance are deployed from a folder of its machine. Upload an archive, or link an https or ssh repository.',
    )
  if (!runtime.isolates)
    throw new Problem(
      'runtime_not_isolated',
      'This instance runs apps as processes of its machine, which does not isolate them, so only the account that owns the instance may deploy. Ask its owner to start a Docker engine and then Homeport again.',
    )
}
