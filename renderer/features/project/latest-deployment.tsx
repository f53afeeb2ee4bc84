import { ArrowRight } from 'lucide-react'
import { Link } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { formatDuration } from '../../lib/format.ts'
import { Prose } from '../../components/prose.tsx'
import { useNow } from '../../lib/use-now.ts'
import { StatusIcon, deploymentBadge } from '../../components/status.tsx'
import { deploymentTitle } from '../../components/deployment-line.tsx'
import { isTerminal, deploymentDuration_ms } from '../../lib/deployment-progress.ts'
import styles from './overview.module.css'

/** The latest deployment if it is not the current one: running, or failed with its error. */
export function LatestDeployment({ slug, deployment, hasServing }: { slug: string; deployment: Deployment; hasServing: boolean }) {
  const isRunning = !isTerminal(deployment.status)
  const now = useNow(isRunning ? 1_000 : null)
  const duration_ms = deploymentDuration_ms(deployment, now)
  const badge = deploymentBadge(deployment.status)
  return (
    <section className={`card ${styles.statusNotice} tone-${badge.tone}`} aria-label="Latest deployment">
      <StatusIcon badge={badge} />
      <div>
        <h2>
          {badge.label}: {deploymentTitle(deployment)}
        </h2>
        {isRunning ? (
          <p className="text-muted">
            {deployment.queue_position !== null
              ? `Position ${deployment.queue_position} in the queue.`
              : duration_ms !== null && `Running for ${formatDuration(duration_ms)}.`}
            {hasServing && ' No downtime: the current version stays live until this one is healthy.'}
          </p>
        ) : (
          deployment.error && (
            <>
              <p>
                <Prose text={deployment.error.message} />
              </p>
              <p className="text-muted">
                <Prose text={deployment.error.hint} />
                {hasServing && ' The current version stays live.'}
              </p>
            </>
          )
        )}
      </div>
      <Link href={`/projects/${slug}/deployments/${deployment.id}`} className="button button-plain">
        <span>{isRunning ? 'View progress' : 'View details'}</span>
        <ArrowRight size={15} aria-hidden />
      </Link>
    </section>
  )
}
