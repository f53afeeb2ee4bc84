import { useLocation } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { actionLabels, describeRollback } from '../../../server/contract/labels.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useRollbackDeployment, useRollbackPlan, useServingDeployment } from '../../api/deployments.ts'
import { Button } from '../../components/button.tsx'
import { DeploymentLine, deploymentTitle } from '../../components/deployment-line.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, Skeleton } from '../../components/feedback.tsx'
import { StatusIcon } from '../../components/status.tsx'
import { shortenSha } from '../../lib/format.ts'
import { Thumbnail } from '../screenshots/index.ts'
import styles from './rollback-confirm-dialog.module.css'

/** What a rollback to this deployment does: instantly or by a build, from which commit to which, and with which variables. */
export function RollbackConfirmDialog({ slug, deployment, onClose }: { slug: string; deployment: Deployment; onClose: () => void }) {
  const [, navigate] = useLocation()
  const { has_instance_api } = useCapabilities()
  const { data: plan, isPending } = useRollbackPlan(slug, deployment.id, has_instance_api)
  const { data: serving } = useServingDeployment(slug)
  const rollback = useRollbackDeployment({
    hidesErrorToast: true,
    onSuccess({ deployment_id }) {
      onClose()
      navigate(`/projects/${slug}/deployments/${deployment_id}`)
    },
  })
  const range = serving?.commit_sha && deployment.commit_sha ? [serving.commit_sha, deployment.commit_sha].map(shortenSha) : null
  const changed = plan?.changed_variables ?? []
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Roll back to “${deploymentTitle(deployment)}”?`}
      description="No downtime: the current version stays live until the earlier one is healthy."
    >
      <div className={styles.rollbackTarget}>
        <span className={styles.rollbackImage}>
          <Thumbnail slug={slug} deployment={deployment} />
        </span>
        <DeploymentLine deployment={deployment} />
      </div>
      <dl className={styles.rollbackFacts}>
        {has_instance_api && (
          <div>
            <dt>Build</dt>
            <dd className="row">
              {plan && <StatusIcon badge={{ label: '', shape: plan.is_instant ? 'disc' : 'ring', tone: plan.is_instant ? 'live' : 'busy' }} />}
              {plan ? describeRollback(plan) : isPending ? <Skeleton width={220} height={18} /> : 'Unknown'}
            </dd>
          </div>
        )}
        {range && (
          <div>
            <dt>Commits</dt>
            <dd>
              <code>{range[0]}</code> (current) → <code>{range[1]}</code>
            </dd>
          </div>
        )}
        {changed.length > 0 && (
          <div>
            <dt>Variables</dt>
            <dd>
              Keeps today’s values of <code>{changed.slice(0, 8).join(', ')}</code>
              {changed.length > 8 && ` and ${changed.length - 8} more`}, which changed since.
            </dd>
          </div>
        )}
      </dl>
      {rollback.error && <ProblemView problem={rollback.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" busy={rollback.isPending} onClick={() => rollback.mutate({ params: { slug, id: deployment.id } })}>
          {actionLabels.rollback}
        </Button>
      </footer>
    </Dialog>
  )
}
