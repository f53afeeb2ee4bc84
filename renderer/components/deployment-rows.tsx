import { History } from 'lucide-react'
import { memo } from 'react'
import { Link } from 'wouter'
import type { Deployment } from '../../server/contract/deployments.ts'
import { formatDuration } from '../lib/format.ts'
import { useNow } from '../lib/use-now.ts'
import { IconButton } from './button.tsx'
import { StatusText, deploymentBadge } from './status.tsx'
import { DeploymentLine, deploymentTitle, triggerLabel } from './deployment-line.tsx'
import { isTerminal, deploymentDuration_ms } from '../lib/deployment-progress.ts'
import './deployment-rows.css'

/** Estimated row height in px. */
export const deploymentRowHeight = 50

interface RowActions {
  /** Offered for the deployments that can be rolled back to. */
  onRollback?: ((deployment: Deployment) => void) | undefined
}

export function DeploymentRows({ slug, deployments, onRollback }: RowActions & { slug: string; deployments: Deployment[] }) {
  return (
    <ul data-rows>
      {deployments.map((deployment) => (
        <li key={deployment.id}>
          <DeploymentRow slug={slug} deployment={deployment} trigger={triggerLabel(deployment, deployments)} onRollback={onRollback} />
        </li>
      ))}
    </ul>
  )
}

export const DeploymentRow = memo(function DeploymentRow({
  slug,
  deployment,
  trigger,
  onRollback,
}: RowActions & { slug: string; deployment: Deployment; trigger: string }) {
  return (
    <div className="deployment-row">
      <Link
        href={`/projects/${slug}/deployments/${deployment.id}`}
        className="deployment-link"
        aria-label={`${deploymentTitle(deployment)}, ${deploymentBadge(deployment.status).label}`}
      />
      <span>
        <StatusText badge={deploymentBadge(deployment.status)} />
      </span>
      <DeploymentLine deployment={deployment} />
      <span className="deployment-trigger text-muted">
        {trigger}
        {deployment.target === 'preview' && ' · preview'}
      </span>
      <span className="deployment-duration">
        <DeploymentDuration deployment={deployment} />
      </span>
      <span className="deployment-current">
        {deployment.is_current && <span className="current">Current</span>}
        {onRollback && deployment.can_rollback && !deployment.is_current && (
          <IconButton
            icon={History}
            label={`Roll back to ${deploymentTitle(deployment)}`}
            className="deployment-rollback"
            onClick={() => onRollback(deployment)}
          />
        )}
      </span>
    </div>
  )
})

function DeploymentDuration({ deployment }: { deployment: Deployment }) {
  const now = useNow(isTerminal(deployment.status) ? null : 1_000)
  if (deployment.queue_position !== null) return <span className="text-subtle">Position {deployment.queue_position} in queue</span>
  const duration_ms = deploymentDuration_ms(deployment, now)
  return duration_ms === null ? null : formatDuration(duration_ms)
}
