import { z } from 'zod'
import { operation } from './operation.ts'
import { empty, projectIdParams } from './shared.ts'

const rollbackPlan = z.object({
  is_instant: z.boolean().describe('The stored build starts again. Otherwise the same source is built again.'),
  rebuild_reason: z
    .enum(['build_removed', 'variables', 'settings'])
    .nullable()
    .describe('`settings`: build settings, the runtime, or a variable that was deleted. Null if it is instant.'),
  changed_variables: z.array(z.string()).describe('Keys of production variables that were added or changed since that deployment.'),
})
export type RollbackPlan = z.output<typeof rollbackPlan>

export const rollbackPlanOperations = {
  planRollback: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/deployments/{id}/rollback',
    resource: 'deployment',
    group: 'Instance',
    summary: 'Get what a rollback to a deployment would do: start the stored build, or build again',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: z.object({ plan: rollbackPlan }) },
    errors: ['project_not_found', 'deployment_not_found', 'rollback_not_allowed'],
  }),
}
