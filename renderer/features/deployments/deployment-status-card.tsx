import { Link } from 'wouter'
import { useDeployment } from '../../api/deployments.ts'
import { Button } from '../../components/button.tsx'
import { StatusText, deploymentBadge } from '../../components/status.tsx'
import { isTerminal } from '../../lib/deployment-progress.ts'

/** The messages about a deployment that applies changes. `kept`: what the previous version keeps, if it stays live. */
export const redeployMessages = (changes: string, kept = '') => ({
  running: `Redeploying with ${changes}…`,
  ready: `The app is running with ${changes}.`,
  failed: `The deployment with ${changes} failed. The previous version is still live${kept}.`,
  canceled: `The deployment with ${changes} was canceled. The previous version is still live${kept}.`,
})

/** Follows a deployment that an action on another page started. */
export function DeploymentStatusCard({
  slug,
  id,
  messages,
  hidesSuccess = false,
  onDismiss,
}: {
  slug: string
  id: string
  messages: { running: string; ready: string; failed: string; canceled: string }
  /** A later change exists, so that its success would mislead. */
  hidesSuccess?: boolean
  onDismiss: () => void
}) {
  const { data: deployment } = useDeployment(slug, id)
  if (!deployment || (hidesSuccess && deployment.status === 'ready')) return null
  const { status } = deployment
  const hasEnded = isTerminal(status)
  return (
    <div className="card deployment-notice" role="status">
      <p className="deployment-notice-text">
        <StatusText badge={deploymentBadge(status)} />
        <span>{hasEnded ? messages[status] : messages.running}</span>
      </p>
      <span className="row">
        <Link href={`/projects/${slug}/deployments/${id}`}>View deployment</Link>
        {/* Always rendered, because the button appearing later would change the height of the card. */}
        <Button kind="bare" onClick={onDismiss}>
          Dismiss
        </Button>
      </span>
    </div>
  )
}
