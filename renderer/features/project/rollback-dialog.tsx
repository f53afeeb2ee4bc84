import { useLocation } from 'wouter'
import { useDeployments, useRollbackDeployment } from '../../api/deployments.ts'
import { actionLabels } from '../../../server/contract/labels.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { DeploymentLine } from '../../components/deployment-line.tsx'
import styles from './rollback-dialog.module.css'

/** Earlier deployments that can be rolled back to, newest first. */
export function RollbackDialog({ slug, onOpenChange }: { slug: string; onOpenChange: (open: boolean) => void }) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useDeployments(slug, { status: 'ready', target: 'production' })
  const [, navigate] = useLocation()
  const rollback = useRollbackDeployment({
    onSuccess({ deployment_id }) {
      onOpenChange(false)
      navigate(`/projects/${slug}/deployments/${deployment_id}`)
    },
  })
  const candidates = data?.pages.flatMap((page) => page.deployments).filter((deployment) => deployment.can_rollback && !deployment.is_current)

  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Roll back"
      description="No downtime: the current version stays live until the earlier one is healthy."
    >
      {isPending && <SkeletonRows rows={3} height={56} />}
      {error && <ProblemView problem={toApiError(error)} />}
      {candidates?.length === 0 && <p className="text-muted">There is no earlier deployment to roll back to.</p>}
      {candidates && candidates.length > 0 && (
        <ul className={styles.actionsDialogList}>
          {candidates.map((deployment) => (
            <li key={deployment.id} className={styles.rollbackLine}>
              <DeploymentLine deployment={deployment} />
              <Button
                busy={rollback.isPending && rollback.variables.params.id === deployment.id}
                disabled={rollback.isPending}
                onClick={() => rollback.mutate({ params: { slug, id: deployment.id } })}
              >
                {actionLabels.rollback}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older
        </Button>
      )}
    </Dialog>
  )
}
