import type { Deployment, DeploymentStatus } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import type { EnqueueRequest } from '../deployments/service.ts'
import { findDeployment } from '../store/deployments.ts'
import type { OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { presentDeployment } from './presenters.ts'

interface EnqueuedDeployment {
  deployment_id: string
  status: DeploymentStatus
  deployment: Deployment
}

/** Enqueues a deployment and returns it as enqueued. */
export async function enqueueDeployment(
  { deployments }: FeatureDeps,
  { saveResponse }: OperationContext,
  request: EnqueueRequest,
): Promise<EnqueuedDeployment> {
  const { result: shown } = await deployments.enqueue(request, (tx, deployment_id) => {
    const row = findDeployment(tx, request.project_id, deployment_id)
    if (!row) throw new Problem('project_not_found', 'The project was deleted in the meantime.')
    const deployment = presentDeployment(tx, row)
    const answer: EnqueuedDeployment = { deployment_id, status: deployment.status, deployment }
    saveResponse?.(tx, answer)
    return answer
  })
  return shown
}
