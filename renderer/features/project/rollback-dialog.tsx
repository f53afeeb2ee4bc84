import { useState } from 'react'
import { useDeployments } from '../../api/deployments.ts'
import { actionLabels } from '../../../server/contract/labels.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { DeploymentLine } from '../../components/deployment-line.tsx'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { RollbackConfirmDialog } from '../deployments/index.ts'
import styles from './rollback-dialog.module.css'

/** Earlier deployments that can be rolled back to, newest first. */
export function RollbackDialog({ slug, onOpenChange }: { slug: string; onOpenChange: (open: boolean) => void }) {
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useDeployments(slug, { status: 'ready', target: 'production' })
  const [chosen, setChosen] = useState<Deployment | null>(null)
  const candidates = data?.pages.flatMap((page) => page.deployments).filter((deployment) => deployment.can_rollback && !deployment.is_current)

  if (chosen) return <RollbackConfirmDialog slug={slug} deployment={chosen} onClose={() => onOpenChange(false)} />
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
              <Button onClick={() => setChosen(deployment)}>{actionLabels.rollback}…</Button>
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
