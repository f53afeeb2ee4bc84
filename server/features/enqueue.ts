import type { Deployment, DeploymentStatus } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import type { EnqueueRequest } from '../deploy/engine.ts'
import { findDeployment } from '../store/deployments.ts'
import type { FeatureDeps } from './deps.ts'
import { presentDeployment } from './present.ts'

/** Enqueues and answers with what is in the store by then. */
export async function enqueueAndShow(
  deps: FeatureDeps,
  request: EnqueueRequest,
): Promise<{ deployment_id: string; status: DeploymentStatus; deployment: Deployment }> {
  const { deployment_id } = await deps.engine.enqueue(request)
  return deps.store.db.read((tx) => {
    const row = findDeployment(tx, request.project_id, deployment_id)
    if (!row) throw new Problem('project_not_found', 'The project was removed meanwhile.')
    const deployment = presentDeployment(tx, row)
    return { deployment_id, status: deployment.status, deployment }
  })
}
