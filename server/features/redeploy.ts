import { latestProduction } from '../store/deployments.ts'
import type { FeatureDeps } from './deps.ts'

/** The current production deployment again, with the variables of now. Nothing to do for what never ran or was stopped. */
export async function redeploy(deps: FeatureDeps, projectId: string): Promise<string | null> {
  const base = await deps.store.db.read((tx) => latestProduction(tx, projectId))
  if (!base) return null
  const { deployment_id } = await deps.engine.enqueue({
    project_id: projectId,
    trigger: 'env_change',
    source: { kind: 'same_as', deployment_id: base.id },
  })
  return deployment_id
}
