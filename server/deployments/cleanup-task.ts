import type { RuntimeName } from '../contract/runtimes.ts'
import type { DatabaseDrop } from '../database/database-service.ts'
import type { Artifact } from '../runtime/runtime.ts'

/** Clean-up tasks that must be done even after a restart. */
export type CleanupTask =
  | { kind: 'project'; project_id: string }
  /** Resources left by an attempt that did not end properly: containers, images, folders. */
  | { kind: 'attempt'; deployment_id: string; runtime: RuntimeName }
  /** A replica that could not be stopped at its end. */
  | { kind: 'instance'; runtime: RuntimeName; instance_id: string }
  /** A build without a row. */
  | { kind: 'build'; deployment_id: string; runtime: RuntimeName; artifact: Artifact }
  /** Resources of a closed preview, up to this deployment, because its branch may have been pushed again since. */
  | { kind: 'preview'; project_id: string; branch: string; host: string; up_to: number }
  | DatabaseDrop
