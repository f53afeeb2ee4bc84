import { useLocation } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { useAction } from '../../api/actions.ts'

/** Starts the version that serves anew: as a rollback to itself, from the same build, with the traffic switched once it is healthy. */
export function useRestart(slug: string) {
  const [, go] = useLocation()
  const { mutate, isPending } = useAction('rollbackDeployment', {
    done: 'Restarting. The running copy serves until the new one is healthy.',
    onDone: ({ deployment_id }) => go(`/projects/${slug}/deployments/${deployment_id}`),
  })
  return { isPending, mutate: ({ id }: Deployment) => mutate({ params: { slug, id } }) }
}
