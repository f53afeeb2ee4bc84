import { Link } from 'wouter'
import { useDeployment } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { StatusWord, deploymentSign } from '../../ui/status.tsx'
import { isTerminal } from './progress.ts'
import './deployment-news.css'

/** A deployment that came of what was done on another page, followed there until its end. */
export function DeploymentNews({
  slug,
  id,
  words,
  onDismiss,
}: {
  slug: string
  id: string
  words: { running: string; ready: string; failed: string; canceled: string }
  onDismiss: () => void
}) {
  const { data: deployment } = useDeployment(slug, id)
  if (!deployment) return null
  const { status } = deployment
  const hasEnded = isTerminal(status)
  return (
    <div className="card deployment-news" role="status">
      <p className="deployment-news-words">
        <StatusWord sign={deploymentSign(status)} />
        <span>{hasEnded ? words[status] : words.running}</span>
      </p>
      <span className="row">
        <Link href={`/projects/${slug}/deployments/${id}`}>See the deployment</Link>
        {/* There from the start: it would make the notice taller, and move what is below it. */}
        <Button kind="bare" onClick={onDismiss}>
          Dismiss
        </Button>
      </span>
    </div>
  )
}
