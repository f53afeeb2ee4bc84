import { useLocation } from 'wouter'
import type { Deployment } from '../../server/contract/deployments.ts'
import { useApiMutation } from './use-api-mutation.ts'

/** Restarts the current version with a rollback to itself: the same build starts again, and traffic switches once it is healthy. */
export function useRestart(slug: string) {
  const [, navigate] = useLocation()
  const { mutate, isPending } = useApiMutation('rollbackDeployment', {
    successMessage: 'Restarting. The current version stays live until the new one is healthy.',
    onSuccess: ({ deployment_id }) => navigate(`/projects/${slug}/deployments/${deployment_id}`),
  })
  return { isPending, mutate: ({ id }: Deployment) => mutate({ params: { slug, id } }) }
}
