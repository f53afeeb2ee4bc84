import { CircleStop, Download, ExternalLink, History, RotateCw, Send } from 'lucide-react'
import { useLocation, useSearchParams } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { useAction } from '../../api/actions.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { useCrossings } from '../promote/crossings.ts'
import { isTerminal } from './progress.ts'

/** Cancel while it runs; afterwards build again, roll back to it, open it. */
export function DeploymentActions({ slug, deployment }: { slug: string; deployment: Deployment }) {
  const [, go] = useLocation()
  const input = { params: { slug, id: deployment.id } }
  const follow = { onDone: ({ deployment_id }: { deployment_id: string }) => go(`/projects/${slug}/deployments/${deployment_id}`) }
  const cancel = useAction('cancelDeployment', { done: 'Canceled.' })
  const retry = useAction('retryDeployment', follow)
  const rollback = useAction('rollbackDeployment', follow)
  const ended = isTerminal(deployment.status)
  const [, setParams] = useSearchParams()
  const crossings = useCrossings()
  const mayCross = deployment.status === 'ready' && deployment.target === 'production'

  return (
    <div className="page-actions">
      {!ended && (
        <Button icon={CircleStop} busy={cancel.isPending} onClick={() => cancel.mutate(input)}>
          Cancel
        </Button>
      )}
      {ended && (
        <Button icon={RotateCw} busy={retry.isPending} onClick={() => retry.mutate(input)}>
          Build again
        </Button>
      )}
      {ended && deployment.can_rollback && !deployment.is_current && (
        <Button icon={History} busy={rollback.isPending} onClick={() => rollback.mutate(input)}>
          Roll back to this
        </Button>
      )}
      {mayCross && crossings.promote && (
        <Button icon={Send} onClick={() => setParams({ do: 'promote', deployment: deployment.id })}>
          Promote…
        </Button>
      )}
      {mayCross && crossings.pull && (
        <Button icon={Download} onClick={() => setParams({ do: 'pull', deployment: deployment.id })}>
          Pull…
        </Button>
      )}
      {deployment.is_current && deployment.url && (
        <ButtonLink href={deployment.url} icon={ExternalLink} kind="primary">
          Open
        </ButtonLink>
      )}
    </div>
  )
}
