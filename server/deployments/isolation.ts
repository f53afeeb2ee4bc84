import type { Source } from '../contract/deployment-source.ts'
import { Problem } from '../contract/errors.ts'
import { type RuntimeName, runtimes } from '../contract/runtimes.ts'
import type { Tx } from '../store/store.ts'
import { findInstanceOwner } from '../store/users.ts'
import type { ProjectRow } from '../store/tables.ts'

/**
 * Accounts other than the instance owner's may only deploy on runtimes that isolate apps from this machine, and never from a folder of this machine.
 * Each new deployment is checked, and each start of an app, because the app may have been deployed before this rule.
 */
export function requireIsolation(tx: Tx, project: ProjectRow, runtime: RuntimeName, source?: Source): void {
  if (project.account_id === findInstanceOwner(tx)?.account_id) return
  const isFolder = source?.kind === 'folder' || (source?.kind === 'git' && source.url.startsWith('file:'))
  if (isFolder)
    throw new Problem(
      'runtime_not_isolated',
      'Only the instance owner can deploy from a folder on this machine. Upload an archive, or link an https or ssh repository.',
    )
  if (!runtimes[runtime].isolates)
    throw new Problem(
      'runtime_not_isolated',
      'This instance runs apps as processes without isolation, so only the instance owner can deploy. Ask the owner to start Docker and restart Homeport.',
    )
}
