import { useLocation } from 'wouter'
import { useAction } from '../../api/actions.ts'
import { problemFrom } from '../../api/problem.ts'
import { useDeployments } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { DeploymentLine } from '../deployments/deployment-line.tsx'

/** The earlier deployments that can serve again, newest first. */
export function RollbackDialog({ slug, onOpenChange }: { slug: string; onOpenChange: (open: boolean) => void }) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useDeployments(slug, { status: 'ready', target: 'production' })
  const [, go] = useLocation()
  const rollback = useAction('rollbackDeployment', {
    onDone({ deployment_id }) {
      onOpenChange(false)
      go(`/projects/${slug}/deployments/${deployment_id}`)
    },
  })
  const candidates = data?.pages.flatMap((page) => page.deployments).filter((deployment) => deployment.can_rollback && !deployment.is_current)

  return (
    <Dialog open onOpenChange={onOpenChange} title="Roll back" about="No downtime: the current version stays live until the earlier one is healthy.">
      {isPending && <SkeletonRows rows={3} height={56} />}
      {error && <ProblemView problem={problemFrom(error)} />}
      {candidates?.length === 0 && <p className="quiet">There is no earlier deployment that can serve again.</p>}
      {candidates && candidates.length > 0 && (
        <ul className="actions-dialog-list">
          {candidates.map((deployment) => (
            <li key={deployment.id} className="rollback-line">
              <DeploymentLine deployment={deployment} />
              <Button
                busy={rollback.isPending && rollback.variables.params.id === deployment.id}
                disabled={rollback.isPending}
                onClick={() => rollback.mutate({ params: { slug, id: deployment.id } })}
              >
                Roll back to this
              </Button>
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older ones
        </Button>
      )}
    </Dialog>
  )
}
