import type { RuntimeName } from '../contract/deployments.ts'
import type { DatabaseDrop } from '../database/database-service.ts'
import type { Artifact } from '../runtime/runtime.ts'

/** What was promised and must be done even over a restart. */
export type CleanupTask =
  | { kind: 'project'; project_id: string }
  /** What an attempt left that could not end in order: containers, images, folders. */
  | { kind: 'attempt'; deployment_id: string; runtime: RuntimeName }
  /** What could not be stopped when it was over. */
  | { kind: 'instance'; runtime: RuntimeName; instance_id: string }
  /** A build that no row names any more. */
  | { kind: 'build'; deployment_id: string; runtime: RuntimeName; artifact: Artifact }
  /** What a preview left, up to this deployment: its branch may have come back since. */
  | { kind: 'preview'; project_id: string; branch: string; host: string; up_to: number }
  | DatabaseDrop
