import type { Deployment, DeploymentStatus } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import type { EnqueueRequest } from '../deploy/engine.ts'
import { findDeployment } from '../store/deployments.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { presentDeployment } from './present.ts'

interface Enqueued {
  deployment_id: string
  status: DeploymentStatus
  deployment: Deployment
}

/** Enqueues, and answers with the deployment as it was enqueued. */
export async function enqueueAndShow({ engine }: FeatureDeps, { keepAnswer }: Context, request: EnqueueRequest): Promise<Enqueued> {
  const { shown } = await engine.enqueue(request, (tx, deployment_id) => {
    const row = findDeployment(tx, request.project_id, deployment_id)
    if (!row) throw new Problem('project_not_found', 'The project was removed meanwhile.')
    const deployment = presentDeployment(tx, row)
    const answer: Enqueued = { deployment_id, status: deployment.status, deployment }
    keepAnswer?.(tx, answer)
    return answer
  })
  return shown
}
